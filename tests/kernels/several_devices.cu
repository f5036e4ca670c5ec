// software-only
// options: --devices 2
// Two devices: separate memory and variables, copies between them, peer access.
#include "tests/kernels/kernel_test.cuh"

__device__ int own = 10;
__global__ void step(int* p, int add) { p[threadIdx.x] += add + own; }

int main() {
  int count = 0, can = 0;
  CHECK(cudaGetDeviceCount(&count));
  std::printf("%d devices\n", count);
  int* p[2];
  for (int d = 0; d < 2; ++d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaMalloc(&p[d], 128));
    CHECK(cudaMemset(p[d], 0, 128));
    int value = 10 * (d + 1);
    CHECK(cudaMemcpyToSymbol(own, &value, sizeof value));
    step<<<1, 32>>>(p[d], d);
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaDeviceCanAccessPeer(&can, 1, 0));
  std::printf("can: %d\n", can);
  SAY(cudaDeviceEnablePeerAccess(0, 0));
  SAY(cudaDeviceEnablePeerAccess(0, 0));
  step<<<1, 32>>>(p[0], 1000);
  SAY(cudaDeviceSynchronize());
  int host[2];
  CHECK(cudaMemcpy(&host[0], p[0], 4, cudaMemcpyDefault));
  CHECK(cudaMemcpyPeer(p[0], 0, p[1], 1, 128));
  CHECK(cudaMemcpy(&host[1], p[0], 4, cudaMemcpyDefault));
  std::printf("%d %d\n", host[0], host[1]);
  SAY(cudaSetDevice(2));
}
