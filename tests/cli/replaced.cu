// Prints what two kernels of one module write.
#include <cstdio>

extern "C" __global__ void answer(int* to) { *to = 41; }
extern "C" __global__ void other(int* to, int by) { *to += by; }

int main() {
  int* memory = nullptr;
  cudaMallocManaged(&memory, sizeof *memory);
  answer<<<1, 1>>>(memory);
  cudaDeviceSynchronize();
  std::printf("answer %d: %s\n", *memory, cudaGetErrorName(cudaGetLastError()));
  other<<<1, 1>>>(memory, 100);
  cudaDeviceSynchronize();
  std::printf("other %d: %s\n", *memory, cudaGetErrorName(cudaGetLastError()));
}
