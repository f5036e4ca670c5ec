// A program of two translation units linked on the device, with a managed variable and a
// symbol.
#include <cstdio>

extern __device__ int twice(int value);
__managed__ int managed = 20;
__constant__ int added;

__global__ void compute() { managed = twice(managed) + added; }

int main() {
  const int two = 2;
  cudaMemcpyToSymbol(added, &two, sizeof two);
  compute<<<1, 1>>>();
  const char* error = cudaGetErrorName(cudaDeviceSynchronize());
  std::printf("units: %d %s\n", managed, error);
}
