// half and bfloat16: arithmetic, pairs, fused operations, saturation, comparisons, conversions in
// every rounding, NaNs, infinities and denormals.
#include "tests/kernels/kernel_test.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

using u16 = unsigned short;

__global__ void halves(u16* out, const u16* in) {
  int t = threadIdx.x;
  __half a = __ushort_as_half(in[t]), b = __ushort_as_half(in[(t + 1) % 64]),
         c = __ushort_as_half(in[(t + 9) % 64]);
  out += t;
  auto put = [&](__half v) {
    // A NaN's payload is undefined, but the result must be a NaN.
    *out = __hisnan(v) ? 0x7fff : __half_as_ushort(v);
    out += 64;
  };
  put(__hadd(a, b));
  put(__hsub(a, b));
  put(__hmul(a, b));
  put(__hdiv(a, b));
  put(__hfma(a, b, c));
  put(__hadd_sat(a, b));
  put(__hfma_sat(a, b, c));
  put(__hneg(a));
  put(__habs(a));
  put(__hmax(a, b));
  put(__hmin(a, b));
  put(__hmax_nan(a, b));
  put(__hfma_relu(a, b, c));
  put(hfloor(a));
  put(hrint(a));
  put(htrunc(a));
  put(hsqrt(__habs(a)));
  *out = __heq(a, b) + 2 * __hlt(a, b) + 4 * __hge(a, b) + 8 * __hneu(a, b) + 16 * __hisinf(a);
}

__global__ void pairs(unsigned* out, const u16* in) {
  int t = threadIdx.x;
  __half2 a =
      __halves2half2(__ushort_as_half(in[t] & 0x3fff), __ushort_as_half(in[t + 32] & 0x3fff));
  __half2 b = __lowhigh2highlow(a), c = __half2half2(__float2half(0.5f));
  __half2 results[] = {__hadd2(a, b), __hmul2(a, b), __hfma2(a, b, c), __hsub2(b, c),
                       __hmax2(a, c), __hmin2(a, c), __hgt2(a, b)};
  for (int i = 0; i < 7; ++i) out[i * 32 + t] = *reinterpret_cast<unsigned*>(&results[i]);
}

__global__ void brains(u16* out, const u16* in) {
  int t = threadIdx.x;
  __nv_bfloat16 a = __ushort_as_bfloat16(in[t]), b = __ushort_as_bfloat16(in[(t + 5) % 64]),
                c = __ushort_as_bfloat16(in[(t + 11) % 64]);
  out += t;
  auto put = [&](__nv_bfloat16 v) {
    *out = __hisnan(v) ? 0x7fff : __bfloat16_as_ushort(v);
    out += 64;
  };
  put(__hadd(a, b));
  put(__hsub(a, b));
  put(__hmul(a, b));
  put(__hfma(a, b, c));
  put(__hmax(a, b));
  put(__hmin(a, b));
  put(__hneg(a));
  put(__habs(a));
}

__global__ void conversions(unsigned* out, const float* in) {
  int t = threadIdx.x;
  float v = in[t];
  out += t;
  auto put = [&](unsigned x) {
    *out = x;
    out += 64;
  };
  put(__half_as_ushort(__float2half_rn(v)));
  put(__half_as_ushort(__float2half_rz(v)));
  put(__half_as_ushort(__float2half_ru(v)));
  put(__half_as_ushort(__float2half_rd(v)));
  put(__bfloat16_as_ushort(__float2bfloat16_rn(v)));
  put(__bfloat16_as_ushort(__float2bfloat16_rz(v)));
  put(__float_as_uint(__half2float(__float2half(v))));
  put(__half2int_rn(__float2half(v)));
  put(__half2uint_rz(__float2half(v)));
  put(__half2short_rd(__float2half(v)));
  put(__half_as_ushort(__int2half_rn(int(v))));
  put(__half_as_ushort(__double2half(double(v) * 1.0001)));
}

int main() {
  std::vector<u16> in(64);
  std::vector<float> floats(64);
  Random random(12);
  for (u16& v : in) v = random.next32();
  u16 special[] = {0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 1, 0x03ff, 0x0400, 0x7bff, 0x3c00, 0x3555};
  for (int i = 0; i < 11; ++i) in[i * 3] = special[i];
  for (float& v : floats)
    v = (int(random.next32() >> 12) - (1 << 19)) / float(1 << random.next32() % 24);
  float odd[] = {0.0f,  -0.0f,         65504.0f,  65519.9f, 65520.0f, 1e-8f,
                 6e-8f, 5.9604645e-8f, -70000.0f, 2.5f,     3.5f,     1e-5f};
  for (int i = 0; i < 12; ++i) floats[i] = odd[i];
  Buffer<u16> source(in), a(64 * 18), b(64 * 8);
  Buffer<float> reals(floats);
  Buffer<unsigned> c(7 * 32), d(64 * 12);
  halves<<<1, 64>>>(a, source);
  pairs<<<1, 32>>>(c, source);
  brains<<<1, 64>>>(b, source);
  conversions<<<1, 64>>>(d, reals);
  auto wide = [](const std::vector<u16>& v) { return std::vector<unsigned>(v.begin(), v.end()); };
  print("halves", wide(a.read()), 32);
  print("pairs", c.read());
  print("brains", wide(b.read()), 32);
  print("conversions", d.read(), 32);
}
