// stderr: misaligned
// A load of four bytes at an odd address.
#include "tests/kernels/kernel_test.cuh"

__global__ void load(const char* p, int* out) {
  out[0] = *reinterpret_cast<const int*>(p + threadIdx.x + 1);
}

int main() {
  Buffer<char> v(64);
  Buffer<int> out(1);
  load<<<1, 1>>>(v, out);
  SAY(cudaDeviceSynchronize());
}
