// arch: compute_90
// flags: -code=sm_90
// Machine code alone, compiled with -lineinfo, keeps its PTX, which runs.
#include <cstdio>

__global__ void scale(float* values) { values[threadIdx.x] *= 2; }

int main() {
  float* values;
  cudaMallocManaged(&values, 4 * sizeof(float));
  for (int i = 0; i < 4; ++i) values[i] = float(i);
  scale<<<1, 4>>>(values);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  for (int i = 0; i < 4; ++i) std::printf("%g ", values[i]);
  std::printf("\n");
}
