// arch: compute_100a
// flags: -code=sm_100a,compute_100a
// options: --device b200
// software-only
// cvt of 4-bit and 6-bit floats, of scales and with random bits, compared with values that the host
// finds by search among all values of a format.
#include <cmath>
#include <random>

#include "tests/kernels/kernel_test.cuh"

namespace {

// --- formats by definition ---

struct Format {
  int exponent, fraction, bias;
  bool nan, infinity;
  double value(unsigned x) const {
    const int e = x >> fraction & ((1 << exponent) - 1), f = x & ((1 << fraction) - 1);
    const double m = e ? 1 + std::ldexp(f, -fraction) : std::ldexp(f, -fraction);
    const double v = std::ldexp(m, (e ? e : 1) - bias);
    return x >> (exponent + fraction) & 1 ? -v : v;
  }
  unsigned sign() const { return 1u << (exponent + fraction); }
  unsigned greatest() const { return sign() - 1 - (infinity ? 1 << fraction : nan ? 1 : 0); }
  // The nearest value, with an even code if two are as near.
  unsigned nearest(double x) const {
    if (std::isnan(x)) return nan ? sign() - 1 : greatest();
    const double m = std::fmin(std::fabs(x), 2 * value(greatest()));
    unsigned best = 0;
    for (unsigned c = 0; c <= greatest(); ++c) {
      const double d = std::fabs(value(c) - m), e = std::fabs(value(best) - m);
      if (d < e || (d == e && c % 2 == 0)) best = c;
    }
    return best | (std::signbit(x) ? sign() : 0);
  }
  // The next lower magnitude, or the next higher one if `random` of 2^bits is enough.
  unsigned random(double x, unsigned r, int bits) const {
    if (std::isnan(x)) return nan ? sign() - 1 : greatest();
    const double m = std::fabs(x);
    unsigned low = 0;  // the last value that is not above m
    for (unsigned past = greatest() + 1; past - low > 1;) {
      const unsigned middle = (low + past) / 2;
      (value(middle) <= m ? low : past) = middle;
    }
    const double step = value(low + 1) - value(low);
    if (low < greatest()) low += (m - value(low)) / step + std::ldexp(r, -bits) >= 1;
    return low | (std::signbit(x) ? sign() : 0);
  }
};
const Format e2m1{2, 1, 1, false, false}, e2m3{2, 3, 1, false, false}, e3m2{3, 2, 3, false, false},
    e4m3{4, 3, 7, true, false}, e5m2{5, 2, 15, true, true};

// --- instructions ---

struct In {
  float a, b, e, f;
  unsigned random;
};

#define NARROW(name, code)                                               \
  struct name {                                                          \
    static __device__ unsigned run(In in) {                              \
      unsigned d;                                                        \
      asm("{ .reg .b8 q; .reg .b16 h; .reg .b32 r;\n" code "\n}"         \
          : "=r"(d)                                                      \
          : "f"(in.a), "f"(in.b), "f"(in.e), "f"(in.f), "r"(in.random)); \
      return d;                                                          \
    }                                                                    \
  }
NARROW(Fp4, "cvt.rn.satfinite.e2m1x2.f32 q, %1, %2; cvt.u32.u8 %0, q;");
NARROW(Fp4Relu, "cvt.rn.satfinite.relu.e2m1x2.f32 q, %1, %2; cvt.u32.u8 %0, q;");
NARROW(Fp6A, "cvt.rn.satfinite.e2m3x2.f32 h, %1, %2; cvt.u32.u16 %0, h;");
NARROW(Fp6B, "cvt.rn.satfinite.e3m2x2.f32 h, %1, %2; cvt.u32.u16 %0, h;");
NARROW(Fp6BRelu, "cvt.rn.satfinite.relu.e3m2x2.f32 h, %1, %2; cvt.u32.u16 %0, h;");
NARROW(ScaleDown, "cvt.rz.satfinite.ue8m0x2.f32 h, %1, %2; cvt.u32.u16 %0, h;");
NARROW(ScaleUp, "cvt.rp.satfinite.ue8m0x2.f32 h, %1, %2; cvt.u32.u16 %0, h;");
NARROW(ScaleUpNan, "cvt.rp.ue8m0x2.f32 h, %1, %2; cvt.u32.u16 %0, h;");
NARROW(Random4, "cvt.rs.satfinite.e2m1x4.f32 h, {%1, %2, %3, %4}, %5; cvt.u32.u16 %0, h;");
NARROW(Random6, "cvt.rs.satfinite.e2m3x4.f32 %0, {%1, %2, %3, %4}, %5;");
NARROW(Random6B, "cvt.rs.relu.satfinite.e3m2x4.f32 %0, {%1, %2, %3, %4}, %5;");
NARROW(Random8, "cvt.rs.satfinite.e4m3x4.f32 %0, {%1, %2, %3, %4}, %5;");
NARROW(Random8B, "cvt.rs.satfinite.e5m2x4.f32 %0, {%1, %2, %3, %4}, %5;");
NARROW(RandomHalf, "cvt.rs.satfinite.f16x2.f32 %0, %1, %2, %5;");
NARROW(RandomBf16, "cvt.rs.satfinite.bf16x2.f32 %0, %1, %2, %5;");

template <class Cvt>
__global__ void convert(const In* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = Cvt::run(in[i]);
}

constexpr int count = 1 << 15;
std::vector<In> inputs() {
  std::mt19937 random(1);
  const auto one = [&] {
    const unsigned kind = random() % 8;
    unsigned bits = random();
    if (kind < 5) bits = (bits & 0x807fffff) | (113 + random() % 24) << 23;  // near the formats
    if (kind == 5) bits &= 0xffe00000;                                       // ties
    if (kind == 6) bits = (bits & 0x80700000) | (120 + random() % 12) << 23;
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
  };
  std::vector<In> all(count);
  for (In& in : all) in = {one(), one(), one(), one(), unsigned(random())};
  const float special[] = {0.f, -0.f, INFINITY, -INFINITY, NAN, -NAN, 1e-45f, 3e38f};
  for (int i = 0; i < 64; ++i) all[i].a = special[i % 8], all[i].b = special[i / 8];
  return all;
}

template <class Cvt, class Expected>
void compare(const char* name, const std::vector<In>& in, Expected expected) {
  static Buffer<In> from(in);
  Buffer<unsigned> to(count);
  convert<Cvt><<<count / 128, 128>>>(from, to);
  const auto& got = to.read();
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    if (got[i] != expected(in[i]) && wrong++ == 0)
      std::printf("  %a %a %a %a, %08x: %x, not %x\n", in[i].a, in[i].b, in[i].e, in[i].f,
                  in[i].random, got[i], expected(in[i]));
  std::printf("%-34s %d of %d differ\n", name, wrong, count);
}

unsigned pair(const Format& f, const In& in, bool relu) {
  const auto one = [&](float x) {
    const unsigned c = f.nearest(x);
    return relu && c & f.sign() ? 0 : c;
  };
  return one(in.a) << (f.exponent + f.fraction == 3 ? 4 : 8) | one(in.b);
}
unsigned quad(const Format& f, const In& in, bool relu) {
  const bool small = f.exponent + f.fraction == 3;
  const unsigned r = in.random, high = r >> 16, low = r & 0xffff;
  const unsigned bits[] = {small ? r >> 24 : high, small ? r >> 8 & 255 : high,
                           small ? r >> 16 & 255 : low, small ? r & 255 : low};
  const float x[] = {in.a, in.b, in.e, in.f};
  unsigned all = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned c = f.random(x[i], bits[i], small ? 8 : 16);
    all = all << (small ? 4 : 8) | (relu && c & f.sign() ? 0 : c);
  }
  return all;
}
unsigned scale(float x, bool up, bool finite) {
  if (std::isnan(x)) return 255;
  const double m = std::fabs(double(x));
  for (int b = 0; b < 255; ++b) {
    const double here = std::ldexp(1.0, b - 127), next = std::ldexp(1.0, b - 126);
    if (up ? m <= here : m < next) return b;
  }
  return finite ? 254 : std::isinf(m) || up ? 255 : 254;
}
// f16 or bf16 with random bits.
unsigned random_half(const Format& f, float x, unsigned r, int bits) {
  if (std::isnan(x)) return 0x7fff;
  const unsigned c = f.random(x, r & ((1u << bits) - 1), bits);
  return c;
}

// --- all f16 ---

__global__ void of_halves(unsigned* out) {
  const unsigned x = threadIdx.x + blockIdx.x * blockDim.x, both = (x ^ 0x8000) << 16 | x;
  asm("{ .reg .b8 q; cvt.rn.satfinite.e2m1x2.f16x2 q, %1; cvt.u32.u8 %0, q; }"
      : "=r"(out[3 * x])
      : "r"(both));
  asm("{ .reg .b16 h, l, u; .reg .f32 a, b; mov.b32 {l, u}, %1; cvt.f32.f16 a, u; cvt.f32.f16 b, "
      "l;\n"
      "cvt.rn.satfinite.e2m3x2.f32 h, a, b; cvt.u32.u16 %0, h; }"
      : "=r"(out[3 * x + 1])
      : "r"(both));
  asm("{ .reg .b16 h, l, u; .reg .f32 a, b; mov.b32 {l, u}, %1; cvt.f32.f16 a, u; cvt.f32.f16 b, "
      "l;\n"
      "cvt.rn.satfinite.relu.e3m2x2.f32 h, a, b; cvt.u32.u16 %0, h; }"
      : "=r"(out[3 * x + 2])
      : "r"(both));
}
double half(unsigned h) {
  const Format f16{5, 10, 15, true, true};
  const double v = f16.value(h);
  if ((h & 0x7fff) > 0x7c00) return NAN;
  return (h & 0x7fff) == 0x7c00 ? std::copysign(INFINITY, v) : v;
}
void check_halves() {
  Buffer<unsigned> out(3 * 65536);
  of_halves<<<512, 128>>>(out);
  const auto& got = out.read();
  int wrong[3] = {};
  for (unsigned x = 0; x < 65536; ++x) {
    const double low = half(x), high = half(x ^ 0x8000);
    const auto relu = [](unsigned c) { return c & e3m2.sign() ? 0 : c; };
    wrong[0] += got[3 * x] != (e2m1.nearest(high) << 4 | e2m1.nearest(low));
    wrong[1] += got[3 * x + 1] != (e2m3.nearest(high) << 8 | e2m3.nearest(low));
    wrong[2] += got[3 * x + 2] != (relu(e3m2.nearest(high)) << 8 | relu(e3m2.nearest(low)));
  }
  std::printf("of all f16: %d %d %d differ\n", wrong[0], wrong[1], wrong[2]);
}

// --- back ---

__global__ void widen(unsigned* out) {
  const unsigned x = threadIdx.x + blockIdx.x * blockDim.x;  // a pair of bytes, or of nibbles
  unsigned h4, h6, h6b, s;
  asm("{ .reg .b8 q; cvt.u8.u32 q, %1; cvt.rn.f16x2.e2m1x2 %0, q; }" : "=r"(h4) : "r"(x & 255));
  asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.rn.f16x2.e2m3x2 %0, h; }" : "=r"(h6) : "r"(x));
  asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.rn.relu.f16x2.e3m2x2 %0, h; }" : "=r"(h6b) : "r"(x));
  asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.rn.bf16x2.ue8m0x2 %0, h; }" : "=r"(s) : "r"(x));
  out[4 * x] = h4, out[4 * x + 1] = h6, out[4 * x + 2] = h6b, out[4 * x + 3] = s;
}
void check_widened() {
  Buffer<unsigned> out(4 * 65536);
  widen<<<512, 128>>>(out);
  const auto& got = out.read();
  int wrong[4] = {};
  for (unsigned x = 0; x < 65536; ++x)
    for (int i = 0; i < 2; ++i) {
      const unsigned byte = x >> 8 * i & 255, nibble = x >> 4 * i & 15;
      const auto at = [&](int k) { return got[4 * x + k] >> 16 * i & 0xffff; };
      wrong[0] += half(at(0)) != e2m1.value(nibble) || at(0) >> 15 != nibble >> 3;
      wrong[1] += half(at(1)) != e2m3.value(byte & 63);
      wrong[2] += half(at(2)) != std::fmax(0.0, e3m2.value(byte & 63));
      const unsigned s = byte == 255 ? 0x7fff : byte == 0 ? 0x40 : byte << 7;
      wrong[3] += at(3) != s;
    }
  std::printf("widened: %d %d %d %d differ\n", wrong[0], wrong[1], wrong[2], wrong[3]);
}

}  // namespace

int main() {
  const auto in = inputs();
  compare<Fp4>("e2m1x2.f32", in, [](const In& i) { return pair(e2m1, i, false); });
  compare<Fp4Relu>("relu.e2m1x2.f32", in, [](const In& i) { return pair(e2m1, i, true); });
  compare<Fp6A>("e2m3x2.f32", in, [](const In& i) { return pair(e2m3, i, false); });
  compare<Fp6B>("e3m2x2.f32", in, [](const In& i) { return pair(e3m2, i, false); });
  compare<Fp6BRelu>("relu.e3m2x2.f32", in, [](const In& i) { return pair(e3m2, i, true); });
  compare<ScaleDown>("rz.satfinite.ue8m0x2.f32", in, [](const In& i) {
    return scale(i.a, false, true) << 8 | scale(i.b, false, true);
  });
  compare<ScaleUp>("rp.satfinite.ue8m0x2.f32", in, [](const In& i) {
    return scale(i.a, true, true) << 8 | scale(i.b, true, true);
  });
  compare<ScaleUpNan>("rp.ue8m0x2.f32", in, [](const In& i) {
    return scale(i.a, true, false) << 8 | scale(i.b, true, false);
  });
  compare<Random4>("rs.e2m1x4.f32", in, [](const In& i) { return quad(e2m1, i, false); });
  compare<Random6>("rs.e2m3x4.f32", in, [](const In& i) { return quad(e2m3, i, false); });
  compare<Random6B>("rs.relu.e3m2x4.f32", in, [](const In& i) { return quad(e3m2, i, true); });
  compare<Random8>("rs.e4m3x4.f32", in, [](const In& i) { return quad(e4m3, i, false); });
  compare<Random8B>("rs.e5m2x4.f32", in, [](const In& i) { return quad(e5m2, i, false); });
  compare<RandomHalf>("rs.satfinite.f16x2.f32", in, [](const In& i) {
    const Format f16{5, 10, 15, true, true};
    return random_half(f16, i.a, i.random >> 16, 13) << 16 | random_half(f16, i.b, i.random, 13);
  });
  compare<RandomBf16>("rs.satfinite.bf16x2.f32", in, [](const In& i) {
    const Format bf16{8, 7, 127, true, true};
    return random_half(bf16, i.a, i.random >> 16, 16) << 16 | random_half(bf16, i.b, i.random, 16);
  });
  check_halves();
  check_widened();
}
