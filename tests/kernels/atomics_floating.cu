// Floating-point atomics: exact sums in any order, half and bfloat16 pairs, vectors, and exchanges.
#include "tests/kernels/kernel_test.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void sums(float* f, double* d, __half2* h, __nv_bfloat162* b, __half* one) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&f[0], 0.25f * t);
  atomicAdd(&f[1], -1.0f);
  atomicExch(&f[2], 2.5f);
  atomicAdd(&d[0], 0.125 * t);
  atomicAdd(&d[1], 1e10);
  if (t < 64) {
    atomicAdd(&h[0], __halves2half2(__float2half(1.0f), __float2half(-0.5f)));
    atomicAdd(&b[0], __halves2bfloat162(__float2bfloat16(1.0f), __float2bfloat16(2.0f)));
    atomicAdd(one, __float2half(0.25f));
  }
}

__global__ void vectors(float4* f, float2* g) {
  int t = threadIdx.x;
  atomicAdd(&f[0], make_float4(1, 2, t, -t));
  atomicAdd(&g[0], make_float2(0.5f, t));
}

// The usual compare-and-swap loops on the bits.
__global__ void loops(double* product, float* most) {
  auto* word = reinterpret_cast<unsigned long long*>(product);
  unsigned long long old = *word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, __double_as_longlong(__longlong_as_double(seen) * 2));
  } while (old != seen);
  auto* bits = reinterpret_cast<int*>(most);
  atomicMax(bits, __float_as_int(threadIdx.x * 1.5f));
}

int main() {
  Buffer<float> f(3), most(1);
  Buffer<double> d(2), product(std::vector<double>{1.0});
  Buffer<__half2> h(1);
  Buffer<__nv_bfloat162> b(1);
  Buffer<__half> one(2);
  Buffer<float4> f4(1);
  Buffer<float2> f2(1);
  sums<<<4, 128>>>(f, d, h, b, one);
  vectors<<<1, 96>>>(f4, f2);
  loops<<<1, 96>>>(product, most);
  print("float", f.read());
  print("double", d.read());
  print_checksum("half2", h.read());
  print_checksum("bfloat162", b.read());
  print_checksum("half", one.read());
  print_checksum("float4", f4.read());
  print_checksum("float2", f2.read());
  print("product", product.read());
  print("most", most.read());
}
