// Tensor memory: every shape of tcgen05.ld and st, with pack::16b and unpack::16b, against the
// layouts of the PTX ISA; allocations that wait until columns are given back; commits on several
// mbarriers.
// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
// async: late early shuffled:1
// software-only
#include "kernel_test.cuh"
#include "part/tcgen05.cuh"

constexpr int columns = 128;

#define REGISTERS4 "{%0, %1, %2, %3}"
#define REGISTERS8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define REGISTERS16 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
#define OUT4(i) "=r"(r[i]), "=r"(r[i + 1]), "=r"(r[i + 2]), "=r"(r[i + 3])
#define IN4(i) "r"(r[i]), "r"(r[i + 1]), "r"(r[i + 2]), "r"(r[i + 3])
#define LOAD4(FORM, AFTER)                                                           \
  asm volatile("tcgen05.ld.sync.aligned." FORM ".b32 " REGISTERS4 ", [%4]" AFTER ";" \
               : OUT4(0)                                                             \
               : "r"(at))
#define STORE4(FORM, AFTER)                                                                    \
  asm volatile("tcgen05.st.sync.aligned." FORM ".b32 [%4]" AFTER ", " REGISTERS4 ";" ::IN4(0), \
               "r"(at)                                                                         \
               : "memory")
#define LOAD8(FORM)                                                         \
  asm volatile("tcgen05.ld.sync.aligned." FORM ".b32 " REGISTERS8 ", [%8];" \
               : OUT4(0), OUT4(4)                                           \
               : "r"(at))
#define STORE8(FORM)                                                                          \
  asm volatile("tcgen05.st.sync.aligned." FORM ".b32 [%8], " REGISTERS8 ";" ::IN4(0), IN4(4), \
               "r"(at)                                                                        \
               : "memory")
#define LOAD16(FORM)                                                          \
  asm volatile("tcgen05.ld.sync.aligned." FORM ".b32 " REGISTERS16 ", [%16];" \
               : OUT4(0), OUT4(4), OUT4(8), OUT4(12)                          \
               : "r"(at))
#define STORE16(FORM)                                                                           \
  asm volatile("tcgen05.st.sync.aligned." FORM ".b32 [%16], " REGISTERS16 ";" ::IN4(0), IN4(4), \
               IN4(8), IN4(12), "r"(at)                                                         \
               : "memory")

__device__ void load(int shape, bool packs, std::uint32_t at, std::uint32_t* r) {
  switch (shape * 2 + packs) {
    case 0: LOAD4("32x32b.x4", ""); break;
    case 1: LOAD4("32x32b.x4.pack::16b", ""); break;
    case 2: LOAD4("16x64b.x4", ""); break;
    case 3: LOAD4("16x64b.x4.pack::16b", ""); break;
    case 4: LOAD8("16x128b.x4"); break;
    case 5: LOAD8("16x128b.x4.pack::16b"); break;
    case 6: LOAD16("16x256b.x4"); break;
    case 7: LOAD16("16x256b.x4.pack::16b"); break;
    case 8: LOAD4("16x32bx2.x4", ", 20"); break;
    case 9: LOAD4("16x32bx2.x4.pack::16b", ", 20"); break;
  }
}
__device__ void store(int shape, bool packs, std::uint32_t at, const std::uint32_t* r) {
  switch (shape * 2 + packs) {
    case 0: STORE4("32x32b.x4", ""); break;
    case 1: STORE4("32x32b.x4.unpack::16b", ""); break;
    case 2: STORE4("16x64b.x4", ""); break;
    case 3: STORE4("16x64b.x4.unpack::16b", ""); break;
    case 4: STORE8("16x128b.x4"); break;
    case 5: STORE8("16x128b.x4.unpack::16b"); break;
    case 6: STORE16("16x256b.x4"); break;
    case 7: STORE16("16x256b.x4.unpack::16b"); break;
    case 8: STORE4("16x32bx2.x4", ", 20"); break;
    case 9: STORE4("16x32bx2.x4.unpack::16b", ", 20"); break;
  }
}

// Loads from column 1 and, but for the first shape, from lane 16. Stores the registers one lane
// group further up, and gives all of tensor memory.
__global__ void shapes(int shape, bool packs, std::uint32_t* loaded, std::uint32_t* stored) {
  __shared__ std::uint32_t address;
  const std::uint32_t t = threadIdx.x, lanes = (t & ~31u) << 16;
  if (t < 32) alloc(&address, columns);
  __syncthreads();
  const std::uint32_t base = address + lanes;
  for (int i = 0; i < columns; ++i) store_column(base + i, t << 16 | (i * 256 + t));
  wait_stores();
  std::uint32_t r[16] = {};
  load(shape, packs, base + (shape ? 16u << 16 : 0) + 1, r);
  wait_loads();
  for (int i = 0; i < 16; ++i) loaded[i * 128 + t] = r[i];
  store(shape, packs, base, r);
  wait_stores();
  for (int i = 0; i < columns; ++i) stored[i * 128 + t] = load_column(base + i);
  wait_loads();
  __syncthreads();
  if (t < 32) dealloc(address, columns);
}

struct Place {
  unsigned lane, column;
};
Place place(int shape, unsigned t, unsigned r) {
  switch (shape) {
    case 0: return {t, r};
    case 1: return {t / 4 + 8 * (t & 1), 2 * r + (t >> 1 & 1)};
    case 2: return {t / 4 + 8 * (r & 1), 4 * (r / 2) + t % 4};
    case 3: return {t / 4 + 8 * (r >> 1 & 1), 8 * (r / 4) + 2 * (t % 4) + (r & 1)};
    default: return {t % 16, r + (t < 16 ? 0 : 20)};
  }
}

void test_shapes() {
  constexpr const char* names[] = {"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"};
  constexpr unsigned registers[] = {4, 4, 8, 16, 4};
  for (int shape = 0; shape < 5; ++shape)
    for (const bool packs : {false, true}) {
      Buffer<std::uint32_t> loaded(16 * 128), stored(columns * 128);
      shapes<<<1, 128>>>(shape, packs, loaded, stored);
      loaded.read(), stored.read();
      std::vector<std::uint32_t> all(columns * 128);
      const auto word = [](unsigned lane, unsigned column) {
        return lane << 16 | (column * 256 + lane);
      };
      for (unsigned c = 0; c < columns; ++c)
        for (unsigned l = 0; l < 128; ++l) all[c * 128 + l] = word(l, c);
      int wrong = 0;
      const auto column_of = [&](unsigned t, Place p, unsigned half) {
        if (!packs) return p.column;
        const unsigned second = shape == 4 && t >= 16 ? 20 : 0;
        return (p.column - second) * 2 + half + second;
      };
      for (unsigned t = 0; t < 128; ++t)
        for (unsigned r = 0; r < registers[shape]; ++r) {
          const Place p = place(shape, t % 32, r);
          const unsigned lane = t / 32 * 32 + p.lane, from = lane + (shape ? 16 : 0);
          std::uint32_t wanted = word(from, 1 + column_of(t % 32, p, 0));
          if (packs) wanted = (wanted & 0xffff) | word(from, 1 + column_of(t % 32, p, 1)) << 16;
          wrong += loaded.host[r * 128 + t] != wanted;
          if (!packs) {
            all[p.column * 128 + lane] = wanted;
          } else {
            for (unsigned half = 0; half < 2; ++half) {
              std::uint32_t& to = all[column_of(t % 32, p, half) * 128 + lane];
              to = (to & 0xffff0000) | (wanted >> 16 * half & 0xffff);
            }
          }
        }
      std::printf("%s%s: %d loaded words wrong, ", names[shape], packs ? " of 16 bits" : "", wrong);
      wrong = 0;
      for (std::size_t i = 0; i < all.size(); ++i) wrong += all[i] != stored.host[i];
      std::printf("%d of tensor memory\n", wrong);
    }
}

// Warp 1 asks for columns that warp 0 gives back later.
__global__ void allocations(std::uint32_t* out) {
  __shared__ std::uint32_t a, b, c, d;
  __shared__ volatile int order;
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) order = 0;
  __syncthreads();
  if (warp == 0) {
    alloc(&a, 256);
    alloc(&b, 256);
  }
  __syncthreads();
  if (warp == 0) {
    if (threadIdx.x == 0) order = 1;
    __syncwarp();
    dealloc(b, 256);
  } else {
    alloc(&c, 128);
    if (threadIdx.x == 32) out[4] = order;
    alloc(&d, 32);
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  __syncthreads();
  if (warp == 0) dealloc(a, 256);
  if (warp == 1) dealloc(c, 128), dealloc(d, 32);
  if (threadIdx.x == 0) out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

// A thread issues nothing and commits: the mbarriers complete. One is reached by a mask of blocks.
__global__ void commits(std::uint32_t* out) {
  __shared__ std::uint64_t one, two;
  if (threadIdx.x == 0) init(&one, 1), init(&two, 2);
  __syncthreads();
  if (threadIdx.x == 0) {
    commit(&one);
    commit(&two);
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
        "[%0], %1;" ::"r"(shared_address(&two)),
        "h"(static_cast<short>(1))
        : "memory");
  }
  wait(&one, 0);
  wait(&two, 0);
  out[threadIdx.x] = 1;
}

int main() {
  test_shapes();
  Buffer<std::uint32_t> out(5), done(64);
  allocations<<<1, 64>>>(out);
  out.read();
  std::printf("allocated %u %u %u %u, the third after warp 0 had given columns back: %u\n",
              out.host[0], out.host[1], out.host[2], out.host[3], out.host[4]);
  commits<<<1, 64>>>(done);
  unsigned sum = 0;
  for (const std::uint32_t each : done.read()) sum += each;
  std::printf("%u threads saw both mbarriers complete\n", sum);
}
