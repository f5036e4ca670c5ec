// software-only
// stderr: stack
// Endless recursion. (A GPU reports it, or an illegal address, or nothing.)
#include "tests/kernels/kernel_test.cuh"

__device__ __noinline__ int deep(int n, int* keep) {
  int own[16];
  for (int i = 0; i < 16; ++i) own[i] = n + keep[i];
  return deep(n + 1, own) + own[n & 15];
}
__global__ void run(int* out) {
  int seed[16] = {};
  out[0] = deep(0, seed);
}

int main() {
  Buffer<int> out(1);
  run<<<1, 1>>>(out);
  SAY(cudaDeviceSynchronize());
}
