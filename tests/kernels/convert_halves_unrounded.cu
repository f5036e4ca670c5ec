// A conversion between f16 and bf16 without a rounding mode rounds to nearest.
#include "tests/kernels/kernel_test.cuh"

__global__ void convert(unsigned* differing, unsigned* sums) {
  const unsigned short x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned short plain, rounded;
  asm("cvt.bf16.f16 %0, %1;" : "=h"(plain) : "h"(x));
  asm("cvt.rn.bf16.f16 %0, %1;" : "=h"(rounded) : "h"(x));
  atomicAdd(&differing[0], plain != rounded);
  atomicAdd(&sums[0], plain);
  asm("cvt.f16.bf16 %0, %1;" : "=h"(plain) : "h"(x));
  asm("cvt.rn.f16.bf16 %0, %1;" : "=h"(rounded) : "h"(x));
  atomicAdd(&differing[1], plain != rounded);
  atomicAdd(&sums[1], plain);
}

int main() {
  Buffer<unsigned> differing(2), sums(2);
  convert<<<256, 256>>>(differing, sums);
  SAY(cudaDeviceSynchronize());
  print("values that differ", differing.read());
  std::printf("any at all: %d %d\n", sums.read()[0] != 0, sums.read()[1] != 0);
}
