// arch: compute_120a
// flags: -code=sm_120a,compute_120a
// options: --device rtx5090
// software-only
// mma.sync of 4-bit, 6-bit and 8-bit floats, with and without scales, and ldmatrix and stmatrix of
// such elements. Sums of the chosen values are exact in f32, so the host's are the reference.
#include <cmath>
#include <functional>
#include <random>

#include "tests/kernels/kernel_test.cuh"

namespace {

using u32 = unsigned;

struct Format {
  const char* name;
  int exponent, fraction, bias;
  double value(u32 x) const {
    const int e = x >> fraction & ((1 << exponent) - 1), f = x & ((1 << fraction) - 1);
    const double v =
        std::ldexp(e ? 1 + std::ldexp(f, -fraction) : std::ldexp(f, -fraction), (e ? e : 1) - bias);
    return x >> (exponent + fraction) & 1 ? -v : v;
  }
  u32 codes() const { return 2u << (exponent + fraction); }
};
const Format e2m1{"e2m1", 2, 1, 1}, e2m3{"e2m3", 2, 3, 1}, e3m2{"e3m2", 3, 2, 3},
    e4m3{"e4m3", 4, 3, 7}, e5m2{"e5m2", 5, 2, 15};

struct Lane {
  u32 a[4], b[2], c[4], sfa, sfb;
};
struct Sums {
  u32 d[4];
};

#define KIND(name, form, rest)                                                                     \
  struct name {                                                                                    \
    static __device__ void run(const Lane& l, Sums& s) {                                           \
      asm volatile("{ .reg .b16 h<4>; mov.b16 h0, 0; mov.b16 h1, 1; mov.b16 h2, 2;\n" form         \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13}" rest      \
                   "; }"                                                                           \
                   : "=r"(s.d[0]), "=r"(s.d[1]), "=r"(s.d[2]), "=r"(s.d[3])                        \
                   : "r"(l.a[0]), "r"(l.a[1]), "r"(l.a[2]), "r"(l.a[3]), "r"(l.b[0]), "r"(l.b[1]), \
                     "r"(l.c[0]), "r"(l.c[1]), "r"(l.c[2]), "r"(l.c[3]), "r"(l.sfa), "r"(l.sfb));  \
    }                                                                                              \
  }
KIND(Fp4Fp6, "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e3m2.f32", "");
KIND(Fp6Fp8, "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e4m3.f32", "");
KIND(Fp8Fp4, "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e5m2.e2m1.f32", "");
KIND(Scaled8,
     "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e2m1.f32."
     "ue8m0",
     ", %14, {2, 1}, %15, {1, 3}");
KIND(Scaled8Registers,
     "mma.sync.aligned.kind::mxf8f6f4.block_scale.m16n8k32.row.col.f32.e2m3.e2m3.f32.ue8m0",
     ", %14, {h1, h0}, %15, {h2, h2}");
KIND(Scaled4,
     "mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32."
     "ue8m0",
     ", %14, {2, 0}, %15, {0, 1}");
KIND(Nvidia4,
     "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32."
     "ue4m3",
     ", %14, {0, 1}, %15, {0, 0}");
KIND(Nvidia4Exponents,
     "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32."
     "ue8m0",
     ", %14, {0, 0}, %15, {2, 2}");

template <class Kind>
__global__ void multiply(const Lane* lanes, Sums* sums) {
  Kind::run(lanes[threadIdx.x], sums[threadIdx.x]);
}

struct Scales {
  int blocks = 0, byte_a = 0, thread_a = 0, byte_b = 0, thread_b = 0;
  bool ue4m3 = false;
  double value(u32 byte) const {
    return ue4m3 ? e4m3.value(byte & 127) : std::ldexp(1.0, int(byte) - 127);
  }
};

template <class Kind>
void check(const char* name, const Format& fa, const Format& fb, bool packed, Scales s = {}) {
  std::mt19937 random(7);
  const int k = packed ? 64 : 32;
  int wrong = 0;
  for (int round = 0; round < 20; ++round) {
    const auto code = [&](const Format& f) {
      u32 x;
      do x = random() % f.codes();
      while (std::fabs(f.value(x)) > 32 || (f.value(x) != 0 && std::fabs(f.value(x)) < 1.0 / 16));
      return x;
    };
    std::vector<Lane> lanes(32);
    double a[16][64], b[8][64], c[16][8], sa[16][4], sb[8][4];
    for (int l = 0; l < 32; ++l) {
      Lane& lane = lanes[l];
      lane = {};
      const int g = l / 4, q = l % 4;
      const int each = packed ? 8 : 4, bits = packed ? 4 : 8;
      const auto fill = [&](u32& word, const Format& f, double* row, int first) {
        for (int i = 0; i < each; ++i) {
          const u32 x = code(f);
          row[first + i] = f.value(x);
          word |= (!packed && &f == &e2m1 ? x << 2 : x) << bits * i;
        }
      };
      for (int r = 0; r < 4; ++r) fill(lane.a[r], fa, a[g + 8 * (r % 2)], each * (q + 4 * (r / 2)));
      for (int r = 0; r < 2; ++r) fill(lane.b[r], fb, b[g], each * (q + 4 * r));
      for (int r = 0; r < 4; ++r) {
        const float x = float(int(random() % 64) - 32) / 4;
        c[g + 8 * (r / 2)][2 * q + r % 2] = x;
        std::memcpy(&lane.c[r], &x, 4);
      }
      for (u32* word : {&lane.sfa, &lane.sfb})
        for (int i = 0; i < 4; ++i)
          *word |= (s.ue4m3 ? 0x30 + random() % 16 : 125 + random() % 5) << 8 * i;
    }
    for (int row = 0; row < 16 && s.blocks; ++row)
      for (int i = 0; i < s.blocks; ++i) {
        const int g = row % 8;
        sa[row][i] =
            s.value(lanes[4 * g + 2 * s.thread_a + row / 8].sfa >> 8 * (s.byte_a + i) & 255);
        sb[g][i] = s.value(lanes[4 * g + s.thread_b].sfb >> 8 * (s.byte_b + i) & 255);
      }
    Buffer<Lane> in(lanes);
    Buffer<Sums> out(32);
    multiply<Kind><<<1, 32>>>(in, out);
    out.read();
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        double sum = c[row][column];
        for (int i = 0; i < k; ++i) {
          const int block = s.blocks ? i / (k / s.blocks) : 0;
          sum += a[row][i] * b[column][i] * (s.blocks ? sa[row][block] * sb[column][block] : 1);
        }
        float got;
        std::memcpy(&got, &out.host[row % 8 * 4 + column / 2].d[row / 8 * 2 + column % 2], 4);
        if (got != sum && wrong++ == 0) std::printf("  %d %d: %a, not %a\n", row, column, got, sum);
      }
  }
  std::printf("%-20s %d of %d differ\n", name, wrong, 20 * 128);
}

// --- ldmatrix and stmatrix ---

__global__ void load(const unsigned char* bytes, u32* out) {
  __shared__ alignas(16) unsigned char tile[512];
  const u32 t = threadIdx.x;
  for (int i = 0; i < 16; ++i) tile[16 * t + i] = bytes[16 * t + i];
  __syncthreads();
  const u32 row = static_cast<u32>(__cvta_generic_to_shared(tile + 16 * t));
  u32 r[14];
  asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared::cta.b8x16.b6x16_p32 {%0, %1}, [%2];"
               : "=r"(r[4]), "=r"(r[5])
               : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[6]), "=r"(r[7]), "=r"(r[8]), "=r"(r[9])
               : "r"(row));
  asm volatile("ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 {%0, %1}, [%2];"
               : "=r"(r[10]), "=r"(r[11])
               : "r"(row));
  __syncthreads();
  asm volatile("stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(4 * t), "r"(4 * t + 1), "r"(4 * t + 2), "r"(0x03020100 + 0x04040404 * t));
  __syncthreads();
  for (int i = 0; i < 12; ++i) out[12 * t + i] = r[i];
  for (int i = 0; i < 4; ++i) out[384 + 4 * t + i] = reinterpret_cast<u32*>(tile)[4 * t + i];
}

u32 bits_at(const unsigned char* row, int at, int bits) {
  u32 x = 0;
  for (int i = 0; i < bits; ++i) x |= (row[(at + i) / 8] >> (at + i) % 8 & 1u) << i;
  return x;
}

void check_moves() {
  std::mt19937 random(5);
  std::vector<unsigned char> bytes(512);
  for (auto& b : bytes) b = random();
  Buffer<unsigned char> in(bytes);
  Buffer<u32> out(512);
  load<<<1, 32>>>(in, out);
  const auto& got = out.read();
  int wrong[5] = {};
  for (int t = 0; t < 32; ++t)
    for (int i = 0; i < 4; ++i) {
      const auto byte = [&](int r) { return got[12 * t + r] >> 8 * i & 255; };
      const int along = 4 * (t % 4) + i, across = t / 4;
      for (int r = 0; r < 4; ++r)
        wrong[0] += byte(r) != bytes[16 * (16 * (r / 2) + along) + across + 8 * (r % 2)];
      for (int r = 0; r < 2; ++r)
        wrong[1] += byte(4 + r) != bits_at(&bytes[16 * along], 6 * (across + 8 * r), 6);
      for (int r = 0; r < 4; ++r)
        wrong[2] += byte(6 + r) != bits_at(&bytes[16 * (8 * r + across)], 4 * along, 4);
      for (int r = 0; r < 2; ++r)
        wrong[3] += byte(10 + r) != bits_at(&bytes[16 * (8 * r + across)], 6 * along, 6);
      // Of the fourth matrix: byte i of lane t is 4t + i.
      const int row = 2 * (t % 4) + i % 2, column = t / 4 + 8 * (i / 2);
      wrong[4] +=
          (got[384 + 4 * (24 + row) + column / 4] >> 8 * (column % 4) & 255) != u32(4 * t + i);
    }
  std::printf("moves: %d %d %d %d %d differ\n", wrong[0], wrong[1], wrong[2], wrong[3], wrong[4]);
}

}  // namespace

int main() {
  check<Fp4Fp6>("e2m1 e3m2", e2m1, e3m2, false);
  check<Fp6Fp8>("e2m3 e4m3", e2m3, e4m3, false);
  check<Fp8Fp4>("e5m2 e2m1", e5m2, e2m1, false);
  check<Scaled8>("mxf8f6f4 1X", e4m3, e2m1, false, {1, 2, 1, 1, 3});
  check<Scaled8Registers>("mxf8f6f4 registers", e2m3, e2m3, false, {1, 1, 0, 2, 2});
  check<Scaled4>("mxf4 2X", e2m1, e2m1, true, {2, 2, 0, 0, 1});
  check<Nvidia4>("mxf4nvf4 4X", e2m1, e2m1, true, {4, 0, 1, 0, 0, true});
  check<Nvidia4Exponents>("mxf4nvf4 2X", e2m1, e2m1, true, {2, 0, 0, 2, 2});
  check_moves();
}
