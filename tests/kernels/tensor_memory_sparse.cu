// tcgen05.mma.sp: two of four values of A are stored, or one of two of tf32, and metadata in tensor
// memory says which.
// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
// software-only
#include <cuda_fp16.h>

#include "kernel_test.cuh"
#include "part/tcgen05.cuh"

enum Kind { f16, tf32, i8 };
constexpr int n = 64;

struct Plan {
  Kind kind;
  std::uint32_t descriptor;
  std::uint64_t a, b;
};

#define MMA(KIND)                                                                                \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 0, 0;\ntcgen05.mma.sp.cta_group::1.kind::" KIND \
               " [%0], %1, %2, [%3], %4, p;\n}" ::"r"(d),                                        \
               "l"(a), "l"(b), "r"(metadata), "r"(p.descriptor)                                  \
               : "memory")

__global__ void product(Plan p, const unsigned char* from_a, const unsigned char* from_b,
                        const std::uint32_t* meta, std::uint32_t* result) {
  __shared__ __align__(1024) unsigned char raw[128 * 32 + n * 64];
  __shared__ std::uint64_t bar;
  __shared__ std::uint32_t address;
  const int t = threadIdx.x;
  for (int i = t; i < 128 * 32; i += 128) raw[i] = from_a[i];
  for (int i = t; i < n * 64; i += 128) raw[128 * 32 + i] = from_b[i];
  if (t < 32) alloc(&address, 128);
  if (t == 0) init(&bar, 1);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const std::uint32_t d = address, metadata = d + n, lanes = (t & ~31u) << 16;
  for (int i = 0; i < 2; ++i) store_column(metadata + lanes + i, meta[i * 128 + t]);
  wait_stores();
  fence_before();
  __syncthreads();
  fence_after();
  if (t == 0) {
    const std::uint64_t a = p.a + (shared_address(raw) >> 4),
                        b = p.b + (shared_address(raw + 128 * 32) >> 4);
    if (p.kind == f16) MMA("f16");
    if (p.kind == tf32) MMA("tf32");
    if (p.kind == i8) MMA("i8");
    commit(&bar);
  }
  wait(&bar, 0);
  fence_after();
  for (int i = 0; i < n; ++i) result[i * 128 + t] = load_column(d + lanes + i);
  wait_loads();
  __syncthreads();
  if (t < 32) dealloc(d, 128);
}

unsigned random_state = 3;
int below(int count) {
  random_state = random_state * 1664525u + 1013904223u;
  return static_cast<int>((random_state >> 8) % static_cast<unsigned>(count));
}

int main() {
  for (const Kind kind : {f16, tf32, i8})
    for (const int m : {64, 128}) {
      const int bytes = kind == f16 ? 2 : kind == tf32 ? 4 : 1, stored = 32 / bytes, k = 2 * stored;
      const Layout of_a{32, false, m, stored, bytes}, of_b{64, false, n, k, bytes};
      std::vector<int> a(m * stored), b(n * k), at(m * stored);
      std::vector<unsigned char> image_a(128 * 32), image_b(n * 64);
      std::vector<std::uint32_t> meta(2 * 128);
      const auto put = [&](unsigned char* to, int value) {
        if (kind == i8) *to = static_cast<unsigned char>(value);
        const __half h(static_cast<float>(value));
        const float f = static_cast<float>(value);
        if (kind == f16) std::memcpy(to, &h, 2);
        if (kind == tf32) std::memcpy(to, &f, 4);
      };
      const auto lane_of = [&](int row) { return m == 64 ? row % 16 + row / 16 * 32 : row; };
      for (int row = 0; row < m; ++row)
        for (int group = 0; group < 8 * (kind == i8 ? 2 : 1); ++group) {
          int first = below(3), second = first + 1 + below(3 - first), bits = first | second << 2;
          if (kind == tf32) first = below(2), bits = first ? 0xe : 4;
          const int span = kind == tf32 ? 2 : 4, values = span / 2;
          for (int i = 0; i < values; ++i)
            at[row * stored + group * values + i] = group * span + (i ? second : first);
          // A chunk's bits are at 4 * chunk of its row's 32 bits. For 16- and 32-bit elements the
          // row's halves are in lanes eight apart, each with the row eight further down.
          const int column = kind == i8 ? group / 8 : 0;
          const int lane =
              kind == i8 ? lane_of(row) : lane_of(row / 16 * 16) + row % 8 + 8 * (group / 4);
          const int bit = kind == i8 ? group % 8 * 4 : group % 4 * 4 + row / 8 % 2 * 16;
          meta[column * 128 + lane] |= static_cast<std::uint32_t>(bits) << bit;
        }
      for (int i = 0; i < m * stored; ++i)
        put(&image_a[of_a.place(i / stored, i % stored)], a[i] = below(9) - 4);
      for (int i = 0; i < n * k; ++i) put(&image_b[of_b.place(i / k, i % k)], b[i] = below(9) - 4);
      Plan p{kind};
      const int number = kind == f16 ? 0 : kind == tf32 ? 2 : 1;
      p.descriptor = 1 << 2 | (kind == i8 ? 2 : 1) << 4 | number << 7 | number << 10 | n / 8 << 17 |
                     m / 16 << 24;
      p.a = of_a.descriptor(0), p.b = of_b.descriptor(0);
      Buffer<unsigned char> on_a(image_a), on_b(image_b);
      Buffer<std::uint32_t> on_meta(meta), result(n * 128);
      product<<<1, 128>>>(p, on_a, on_b, on_meta, result);
      const auto& got = result.read();
      int wrong = 0;
      for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column) {
          int sum = 0;
          for (int i = 0; i < stored; ++i)
            sum += a[row * stored + i] * b[column * k + at[row * stored + i]];
          std::uint32_t wanted = static_cast<std::uint32_t>(sum);
          const float f = static_cast<float>(sum);
          if (kind != i8) std::memcpy(&wanted, &f, 4);
          wrong += got[column * 128 + lane_of(row)] != wanted;
        }
      std::printf("%s m%d: %d wrong\n",
                  kind == f16    ? "f16"
                  : kind == tf32 ? "tf32"
                                 : "i8",
                  m, wrong);
    }
}
