// software-only
// stderr: past_the_end
// stderr: fault_past_the_end\.cu:9
// stderr: 128-byte
// An access one element past an allocation, which a GPU allows. Here it ends the kernel, and the
// report names the line, the address and the allocation.
#include "tests/kernels/kernel_test.cuh"

__global__ void past_the_end(int* p) { p[threadIdx.x + 1] = 1; }

int main() {
  Buffer<int> v(32);
  past_the_end<<<1, 32>>>(v);
  SAY(cudaDeviceSynchronize());
}
