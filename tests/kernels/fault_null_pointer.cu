// stderr: null
// A load through a null pointer.
#include "tests/kernels/kernel_test.cuh"

__global__ void load(const int* p, int* out) { out[0] = p[threadIdx.x]; }

int main() {
  Buffer<int> out(1);
  load<<<1, 1>>>(nullptr, out);
  SAY(cudaDeviceSynchronize());
}
