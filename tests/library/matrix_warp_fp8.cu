// arch: sm_90a
// Products of a warp of 8-bit floating-point numbers, which sm_89 and later have.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <inflight/matrix_fragment.cuh>

#include "tests/library/tensors.cuh"

namespace {

using inflight::fragment_use;

template <class Sum, class T, class U>
__global__ void multiply(Sum* out, const T* a, const U* b) {
  __shared__ inflight::swizzled_tile<T, 16, 64, inflight::swizzle::b64> p;
  __shared__ inflight::swizzled_tile<U, 16, 64, inflight::swizzle::b64> q;
  for (int i = threadIdx.x; i < 16 * 64; i += 32) p(i / 64, i % 64) = a[i], q(i / 64, i % 64) = b[i];
  __syncwarp();
  inflight::matrix_fragment<fragment_use::a, T, 16, 64> x;
  inflight::matrix_fragment<fragment_use::b, U, 64, 16> y;
  inflight::load_rows(x, p, 0, 0);
  inflight::load_rows(y, q, 0, 0);
  inflight::accumulator_fragment<Sum, 16, 16> sum;
  sum.fill(Sum(1));
  inflight::multiply_add(sum, x, y);
  sum.each([&](int m, int n, Sum& value) { out[m * 16 + n] = value; });
}

template <class Sum, class T, class U>
void product(const char* what) {
  Buffer<T> a(16 * 64);
  Buffer<U> b(16 * 64);
  Buffer<Sum> out(16 * 16);
  for (int i = 0; i < 16 * 64; ++i) {
    a.host[i] = T(float(i * 7 % 5 - 2));
    b.host[i] = U(float(i * 11 % 7 - 3));
  }
  CHECK(cudaMemcpy(a.device, a.host.data(), a.host.size(), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b.device, b.host.data(), b.host.size(), cudaMemcpyHostToDevice));
  multiply<<<1, 32>>>(out.device, a.device, b.device);
  out.read();
  bool right = true;
  for (int i = 0; i < 256; ++i) {
    float wanted = 1;
    for (int k = 0; k < 64; ++k)
      wanted += float(a.host[i / 16 * 64 + k]) * float(b.host[i % 16 * 64 + k]);
    right = right && float(out.host[i]) == wanted;
  }
  verdict(what, right);
}

}  // namespace

int main() {
  product<float, __nv_fp8_e4m3, __nv_fp8_e4m3>("e4m3");
  product<float, __nv_fp8_e5m2, __nv_fp8_e4m3>("e5m2 and e4m3");
  product<__half, __nv_fp8_e4m3, __nv_fp8_e5m2>("e4m3 and e5m2 to f16");
}
