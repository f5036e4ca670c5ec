// stderr: illegal|out of bounds
// A store far outside every allocation: cudaErrorIllegalAddress, which stays.
#include "tests/kernels/kernel_test.cuh"

__global__ void store(int* p) { p[threadIdx.x] = 1; }

int main() {
  Buffer<int> v(32);
  store<<<1, 32>>>(v);
  SAY(cudaDeviceSynchronize());
  store<<<1, 32>>>(v + (1ull << 40));
  SAY(cudaDeviceSynchronize());
  SAY(cudaGetLastError());
  store<<<1, 32>>>(v);
  SAY(cudaGetLastError());
  int host;
  SAY(cudaMemcpy(&host, v, 4, cudaMemcpyDeviceToHost));
}
