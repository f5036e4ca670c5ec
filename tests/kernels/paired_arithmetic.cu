// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
// software-only
// add, sub, mul and fma on pairs of f32 and on f32 with f16 or bf16; minima of three; redux of f32;
// accesses of 256 bits; st.bulk. The host computes the references.
#include <cfenv>
#include <cmath>
#include <random>

#include "tests/kernels/kernel_test.cuh"

namespace {

using u32 = unsigned;
using u64 = unsigned long long;

struct In {
  u64 a, b, c;
};
constexpr int count = 1 << 14;

float f32(u32 bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
u32 bits_of(float x) {
  u32 b;
  std::memcpy(&b, &x, 4);
  return x != x ? 0x7fffffff : b;
}
float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.f, x) : x; }

std::vector<In> inputs() {
  std::mt19937_64 random(3);
  std::vector<In> all(count);
  const u32 special[] = {0,          0x80000000, 0x7f800000, 0xff800000,
                         0x7fc00000, 1,          0x80000001, 0x3f800000};
  const auto one = [&](int i) -> u64 {
    if (i % 5 == 0) return special[random() % 8];
    if (i % 3 == 0) return u32(random());
    return (u32(random()) & 0x807fffff) | (120 + random() % 14) << 23;
  };
  int i = 0;
  for (In& in : all) {
    in.a = one(i) | one(i + 1) << 32, in.b = one(i + 2) | one(i + 3) << 32;
    in.c = one(i + 4) | one(i + 5) << 32;
    ++i;
  }
  return all;
}

#define FORM(name, code)                                                  \
  struct name {                                                           \
    static __device__ u64 run(In in) {                                    \
      u64 d;                                                              \
      asm("{ .reg .f32 a, b, c, d, x; .reg .b16 h, g, u;\n"               \
          "mov.b64 {a, x}, %1; mov.b64 {b, x}, %2; mov.b64 {c, x}, %3;\n" \
          "cvt.u16.u64 h, %1; cvt.u16.u64 g, %2;\n" code "\n}"            \
          : "=l"(d)                                                       \
          : "l"(in.a), "l"(in.b), "l"(in.c));                             \
      return d;                                                           \
    }                                                                     \
  }
#define ONE " mov.b32 x, 0f00000000; mov.b64 %0, {d, x};"
FORM(Add, "add.f32x2 %0, %1, %2;");
FORM(AddDown, "add.rm.f32x2 %0, %1, %2;");
FORM(SubUp, "sub.rp.f32x2 %0, %1, %2;");
FORM(MulZero, "mul.rz.f32x2 %0, %1, %2;");
FORM(Fma, "fma.rn.f32x2 %0, %1, %2, %3;");
FORM(FmaUp, "fma.rp.f32x2 %0, %1, %2, %3;");
FORM(AddHalf, "add.f32.f16 d, h, c;" ONE);
FORM(AddHalfUp, "add.rp.f32.f16 d, h, c;" ONE);
FORM(SubBf16, "sub.rz.f32.bf16 d, h, c;" ONE);
FORM(FmaHalf, "fma.rn.f32.f16 d, h, g, c;" ONE);
FORM(FmaBf16Sat, "fma.rm.sat.f32.bf16 d, h, g, c;" ONE);
FORM(Min, "min.f32 d, a, b, c;" ONE);
FORM(MaxNan, "max.NaN.f32 d, a, b, c;" ONE);
FORM(MaxAbs, "max.abs.f32 d, a, b, c;" ONE);
FORM(MinFtzNanAbs, "min.ftz.NaN.abs.f32 d, a, b, c;" ONE);

template <class F>
__global__ void run(const In* in, u64* out) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = F::run(in[i]);
}

template <class F, class Expected>
void compare(const char* name, const std::vector<In>& in, Expected expected) {
  Buffer<In> from(in);
  Buffer<u64> to(count);
  run<F><<<count / 128, 128>>>(from, to);
  const auto& got = to.read();
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    if (const u64 e = expected(in[i]); got[i] != e && wrong++ == 0)
      std::printf("  %llx %llx %llx: %llx, not %llx\n", in[i].a, in[i].b, in[i].c, got[i], e);
  std::printf("%-24s %d of %d differ\n", name, wrong, count);
}
template <class Op>
u64 both(const In& in, int direction, Op op) {
  std::fesetround(direction);
  const volatile float low = op(f32(u32(in.a)), f32(u32(in.b)), f32(u32(in.c)));
  const volatile float high = op(f32(in.a >> 32), f32(in.b >> 32), f32(in.c >> 32));
  std::fesetround(FE_TONEAREST);
  return bits_of(low) | u64(bits_of(high)) << 32;
}
template <class Op>
u64 mixed(const In& in, int direction, float (*widen)(u32), bool sat, Op op) {
  std::fesetround(direction);
  const volatile float r = op(widen(in.a & 0xffff), widen(in.b & 0xffff), f32(u32(in.c)));
  std::fesetround(FE_TONEAREST);
  if (!sat) return bits_of(r);
  return bits_of(r > 0 ? std::fmin(r, 1.f) : 0.f);
}
float half(u32 h) {
  const int e = h >> 10 & 31, f = h & 1023;
  const float m =
      e == 31 ? (f ? NAN : INFINITY) : std::ldexp(float(e ? f + 1024 : f), (e ? e : 1) - 25);
  return h >> 15 ? -m : m;
}
float bf16(u32 h) { return f32(h << 16); }

u64 extreme(const In& in, bool least, bool nan, bool abs, bool ftz) {
  float all[] = {f32(u32(in.a)), f32(u32(in.b)), f32(u32(in.c))};
  float best = NAN;
  bool any = false;
  for (float x : all) {
    if (ftz) x = flush(x);
    if (abs) x = std::fabs(x);
    if (x != x) {
      any = true;
      continue;
    }
    const bool less = x < best || (x == best && std::signbit(x) && !std::signbit(best));
    const bool more = x > best || (x == best && !std::signbit(x) && std::signbit(best));
    if (best != best || (least ? less : more)) best = x;
  }
  return nan && any ? 0x7fffffff : bits_of(best);
}

// --- redux, wide accesses, st.bulk ---

__global__ void reduce(const float* in, u32* out) {
  const float x = in[threadIdx.x];
  const u32 members = threadIdx.x < 12 ? 0xfff : 0xfffff000;
  float r[4];
  asm("redux.sync.min.f32 %0, %1, %2;" : "=f"(r[0]) : "f"(x), "r"(members));
  asm("redux.sync.max.abs.f32 %0, %1, %2;" : "=f"(r[1]) : "f"(x), "r"(members));
  asm("redux.sync.max.NaN.f32 %0, %1, %2;" : "=f"(r[2]) : "f"(x), "r"(members));
  asm("redux.sync.min.abs.NaN.f32 %0, %1, %2;" : "=f"(r[3]) : "f"(x), "r"(members));
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = __float_as_uint(r[i]);
}

__global__ void wide(const u32* in, u32* out) {
  const u32 t = threadIdx.x;
  u32 r[8];
  asm("ld.global.nc.L2::evict_last.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
        "=r"(r[7])
      : "l"(in + 8 * t));
  asm volatile("st.global.v8.b32 [%0], {%8, %7, %6, %5, %4, %3, %2, %1};" ::"l"(out + 8 * t),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]),
               "r"(r[7])
               : "memory");
  u64 d[4];
  asm volatile("ld.global.v4.b64 {%0, %1, %2, %3}, [%4];"
               : "=l"(d[0]), "=l"(d[1]), "=l"(d[2]), "=l"(d[3])
               : "l"(out + 8 * t)
               : "memory");
  asm volatile("st.global.v4.b64 [%0], {%2, %1, %4, %3};" ::"l"(out + 8 * t), "l"(d[0]), "l"(d[1]),
               "l"(d[2]), "l"(d[3])
               : "memory");
}

__global__ void zero(u32* out) {
  __shared__ alignas(16) u32 words[64];
  words[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  if (threadIdx.x == 0)
    asm volatile("st.bulk.weak.shared::cta [%0], %1, 0;" ::"r"(
                     static_cast<u32>(__cvta_generic_to_shared(words + 2))),
                 "l"(u64{40})
                 : "memory");
  if (threadIdx.x == 1) asm volatile("st.bulk [%0], 16, 0;" ::"l"(words + 40) : "memory");
  __syncthreads();
  out[threadIdx.x] = words[threadIdx.x];
}

}  // namespace

int main() {
  const auto in = inputs();
  const auto add = [](float a, float b, float) { return a + b; };
  const auto sub = [](float a, float b, float) { return a - b; };
  const auto mul = [](float a, float b, float) { return a * b; };
  const auto fma = [](float a, float b, float c) { return std::fma(a, b, c); };
  compare<Add>("add.f32x2", in, [&](const In& i) { return both(i, FE_TONEAREST, add); });
  compare<AddDown>("add.rm.f32x2", in, [&](const In& i) { return both(i, FE_DOWNWARD, add); });
  compare<SubUp>("sub.rp.f32x2", in, [&](const In& i) { return both(i, FE_UPWARD, sub); });
  compare<MulZero>("mul.rz.f32x2", in, [&](const In& i) { return both(i, FE_TOWARDZERO, mul); });
  compare<Fma>("fma.rn.f32x2", in, [&](const In& i) { return both(i, FE_TONEAREST, fma); });
  compare<FmaUp>("fma.rp.f32x2", in, [&](const In& i) { return both(i, FE_UPWARD, fma); });
  compare<AddHalf>("add.f32.f16", in, [](const In& i) {
    return mixed(i, FE_TONEAREST, half, false, [](float a, float, float c) { return a + c; });
  });
  compare<AddHalfUp>("add.rp.f32.f16", in, [](const In& i) {
    return mixed(i, FE_UPWARD, half, false, [](float a, float, float c) { return a + c; });
  });
  compare<SubBf16>("sub.rz.f32.bf16", in, [](const In& i) {
    return mixed(i, FE_TOWARDZERO, bf16, false, [](float a, float, float c) { return a - c; });
  });
  compare<FmaHalf>("fma.rn.f32.f16", in,
                   [&](const In& i) { return mixed(i, FE_TONEAREST, half, false, fma); });
  compare<FmaBf16Sat>("fma.rm.sat.f32.bf16", in,
                      [&](const In& i) { return mixed(i, FE_DOWNWARD, bf16, true, fma); });
  compare<Min>("min.f32", in, [](const In& i) { return extreme(i, true, false, false, false); });
  compare<MaxNan>("max.NaN.f32", in,
                  [](const In& i) { return extreme(i, false, true, false, false); });
  compare<MaxAbs>("max.abs.f32", in,
                  [](const In& i) { return extreme(i, false, false, true, false); });
  compare<MinFtzNanAbs>("min.ftz.NaN.abs.f32", in,
                        [](const In& i) { return extreme(i, true, true, true, true); });

  std::vector<float> values(32);
  for (int i = 0; i < 32; ++i) values[i] = (i % 5 - 2) * 1.5f - i * 0.01f;
  values[3] = -0.f, values[20] = NAN;
  Buffer<float> x(values);
  Buffer<u32> r(256);
  reduce<<<1, 32>>>(x, r);
  r.read();
  for (int lane : {0, 11, 12, 31})
    std::printf("redux %2d: %08x %08x %08x %08x\n", lane, r.host[4 * lane], r.host[4 * lane + 1],
                r.host[4 * lane + 2], r.host[4 * lane + 3]);

  std::vector<u32> words(256);
  for (int i = 0; i < 256; ++i) words[i] = i;
  Buffer<u32> from(words);
  wide<<<1, 32>>>(from, r);
  r.read();
  for (int i = 8; i < 16; ++i) std::printf("%u ", r.host[i]);
  std::printf("... %u\n", r.host[255]);
  Buffer<u32> z(64);
  zero<<<1, 64>>>(z);
  for (u32 w : z.read()) std::printf("%u ", w);
  std::printf("\n");
}
