// Floating point to the bit: every rounding, fma, flush to zero, saturation, NaN and infinity,
// division, square root, and conversions between integers and floats.
#include "tests/kernels/kernel_test.cuh"

__device__ float tidy(float v) { return v != v ? __uint_as_float(0x7fffffff) : v; }
__device__ double tidy(double v) { return v != v ? __longlong_as_double(0x7ff8000000000000ll) : v; }

__global__ void singles(float* out, const float* in) {
  int t = threadIdx.x;
  float a = in[t], b = in[(t + 1) % 64], c = in[(t + 17) % 64], r;
  out += t;
  auto put = [&](float v) {
    *out = tidy(v);
    out += 64;
  };
  put(__fadd_rn(a, b));
  put(__fadd_rz(a, b));
  put(__fadd_ru(a, b));
  put(__fadd_rd(a, b));
  put(__fmul_rn(a, b));
  put(__fmul_rz(a, b));
  put(__fmul_ru(a, b));
  put(__fmul_rd(a, b));
  put(__fmaf_rn(a, b, c));
  put(__fmaf_rz(a, b, c));
  put(__fmaf_ru(a, b, c));
  put(__fmaf_rd(a, b, c));
  put(__fdiv_rn(a, b));
  put(__fdiv_rz(a, b));
  put(__fdiv_ru(a, b));
  put(__fdiv_rd(a, b));
  put(__fsqrt_rn(fabsf(a)));
  put(__fsqrt_rd(fabsf(a)));
  put(__frcp_rn(a));
  put(__frcp_ru(a));
  put(__saturatef(a));
  put(fminf(a, b));
  put(fmaxf(a, b));
  put(rintf(a));
  put(floorf(a));
  put(ceilf(a));
  put(truncf(a));
  put(roundf(a));
  put(copysignf(a, b));
  put(fmodf(c, b));
  put(fdimf(a, b));
  asm("add.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  put(r);
  asm("mul.ftz.sat.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  put(r);
  asm("fma.rn.ftz.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
  put(r);
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  put(r);
  asm("max.xorsign.abs.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  put(r);
  put((a < b) + 2 * (a == b) + 4 * (a > b) + 8 * (a != b) + 16 * isnan(a) + 32 * isinf(a) +
      64 * signbit(a));
}

__global__ void doubles(double* out, const double* in) {
  int t = threadIdx.x;
  double a = in[t], b = in[(t + 1) % 64], c = in[(t + 17) % 64];
  out += t;
  auto put = [&](double v) {
    *out = tidy(v);
    out += 64;
  };
  put(__dadd_rn(a, b));
  put(__dadd_rz(a, b));
  put(__dadd_ru(a, b));
  put(__dadd_rd(a, b));
  put(__dmul_ru(a, b));
  put(__dmul_rd(a, b));
  put(__fma_rn(a, b, c));
  put(__fma_rz(a, b, c));
  put(__ddiv_rn(a, b));
  put(__ddiv_ru(a, b));
  put(__dsqrt_rn(fabs(a)));
  put(__drcp_rn(a));
  put(rint(a));
  put(floor(a));
  put(fmin(a, b));
  put(fmax(a, b));
}

__global__ void integers(long long* out, const float* in) {
  int t = threadIdx.x;
  float a = in[t];
  double d = a * 1.25;
  out += t;
  auto put = [&](long long v) {
    *out = v;
    out += 64;
  };
  put(__float2int_rn(a));
  put(__float2int_rz(a));
  put(__float2int_ru(a));
  put(__float2int_rd(a));
  put(__float2uint_rn(a));
  put(__float2uint_rz(a));
  put(__float2ll_rn(a));
  put((long long)__float2ull_rz(a));
  put(__double2int_rn(d));
  put(__double2ll_rd(d));
  put(__double2uint_ru(d));
  put((unsigned char)__float2int_rz(a));
}

__global__ void back(float* out, double* wide, const int* in) {
  int t = threadIdx.x, v = in[t];
  long long w = (long long)v * 1000003;
  out[t] = __int2float_rn(v);
  out[64 + t] = __int2float_rz(v);
  out[128 + t] = __int2float_ru(v);
  out[192 + t] = __uint2float_rn(v);
  out[256 + t] = __ll2float_rn(w);
  out[320 + t] = __ull2float_rd(w);
  wide[t] = __ll2double_rn(w);
  wide[64 + t] = __ll2double_ru(w * 977);
  wide[128 + t] = __ull2double_rz(w);
  out[384 + t] = __double2float_rn(wide[64 + t]);
  out[448 + t] = __double2float_ru(wide[t]);
}

int main() {
  std::vector<float> f(64);
  std::vector<double> d(64);
  std::vector<int> n(64);
  Random random(14);
  for (int i = 0; i < 64; ++i) {
    unsigned bits = random.next32();
    if (i % 2) bits = (bits & 0x80ffffffu) + 0x3c000000u;
    std::memcpy(&f[i], &bits, 4);
    std::uint64_t wide = random.next();
    if (i % 2) wide = (wide & 0x801fffffffffffffull) + 0x3fc0000000000000ull;
    std::memcpy(&d[i], &wide, 8);
    n[i] = int(random.next32()) >> random.next32() % 24;
  }
  unsigned odd[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1,
                    0x007fffff, 0x00800000, 0x80400000, 0x7f7fffff, 0x3f800000, 0x3f000000,
                    0x40200000, 0xc0600000, 0x4f000000, 0xcf000000};
  std::memcpy(f.data(), odd, sizeof odd);
  Buffer<float> floats(f), a(64 * 37), e(64 * 8);
  Buffer<double> wide(d), b(64 * 16), g(64 * 3);
  Buffer<long long> c(64 * 12);
  Buffer<int> ints(n);
  singles<<<1, 64>>>(a, floats);
  doubles<<<1, 64>>>(b, wide);
  integers<<<1, 64>>>(c, floats);
  back<<<1, 64>>>(e, g, ints);
  print("singles", a.read(), 64);
  print("doubles", b.read(), 64);
  print("integers", c.read(), 64);
  print("floats from integers", e.read(), 64);
  print("doubles from integers", g.read(), 64);
}
