// The errors of invalid calls: which stay, and which are cleared when read.
#include "tests/kernels/kernel_test.cuh"

__global__ void nothing() {}
__global__ void __launch_bounds__(64) bounded() {}
__global__ void uses_shared() {
  __shared__ int s[1024];
  s[threadIdx.x] = 1;
}

int main() {
  nothing<<<0, 32>>>();
  SAY(cudaPeekAtLastError());
  SAY(cudaGetLastError());
  SAY(cudaGetLastError());
  nothing<<<1, 1025>>>();
  SAY(cudaGetLastError());
  nothing<<<1, dim3(1, 1, 65)>>>();
  SAY(cudaGetLastError());
  nothing<<<dim3(1, 65536), 1>>>();
  SAY(cudaGetLastError());
  nothing<<<dim3(1, 65535, 2), 1>>>();
  SAY(cudaGetLastError());
  bounded<<<1, 65>>>();
  SAY(cudaGetLastError());
  nothing<<<1, 1, 64 << 10>>>();
  SAY(cudaGetLastError());
  uses_shared<<<1, 1, 45 << 10>>>();
  SAY(cudaGetLastError());
  SAY(cudaDeviceSynchronize());

  SAY(cudaSetDevice(99));
  SAY(cudaSetDevice(-1));
  SAY(cudaGetLastError());
  int value;
  SAY(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0));
  SAY(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99));
  cudaFuncAttributes attributes;
  SAY(cudaFuncGetAttributes(&attributes, nothing));
  std::printf("max threads %d\n", attributes.maxThreadsPerBlock);
  SAY(cudaFuncGetAttributes(&attributes, bounded));
  std::printf("max threads %d, shared %zu\n", attributes.maxThreadsPerBlock,
              attributes.sharedSizeBytes);
  SAY(cudaFuncGetAttributes(&attributes, uses_shared));
  std::printf("shared %zu\n", attributes.sharedSizeBytes);
  SAY(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 << 10));
  SAY(cudaGetLastError());
  int not_a_kernel = 0;
  SAY(cudaLaunchKernel((void*)&not_a_kernel, dim3(1), dim3(1), nullptr, 0, 0));
  SAY(cudaGetLastError());

  for (int code : {0, 1, 2, 9, 98, 400, 700, 701, 710, 716, 719, 720, 999, 12345})
    std::printf("%d: %s, %s\n", code, cudaGetErrorName((cudaError_t)code),
                cudaGetErrorString((cudaError_t)code));
  nothing<<<1, 32>>>();
  SAY(cudaDeviceSynchronize());
}
