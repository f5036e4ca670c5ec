// flags: -rdc=true -lcudadevrt
// A parent spins until its child writes. Nothing guarantees that the child runs concurrently, but
// chips have the capacity, and programs rely on it.
#include <cstdio>

__global__ void child(volatile int* flag) { *flag = 1; }
__global__ void parent(volatile int* flag) {
  child<<<1, 1, 0, cudaStreamFireAndForget>>>(flag);
  while (*flag == 0) {
  }
  printf("seen\n");
}

int main() {
  int* flag;
  cudaMallocManaged(&flag, sizeof *flag);
  *flag = 0;
  parent<<<1, 1>>>(flag);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
