// A program without kernels that links the static runtime.
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  int devices = 0, version = 0;
  cudaGetDeviceCount(&devices);
  cudaRuntimeGetVersion(&version);
  std::printf("devices: %d, runtime %d\n", devices, version / 1000);
}
