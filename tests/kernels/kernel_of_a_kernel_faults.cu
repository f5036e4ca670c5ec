// flags: -rdc=true -lcudadevrt
// stderr: launched by kernel parent\(int\*\), block \(1,0,0\), thread \(2,0,0\)
// A fault in a kernel's child launch is an error of the launch itself.
#include <cstdio>

__global__ void child(int* p) { *p = 1; }
__global__ void parent(int* p) {
  if (blockIdx.x == 1 && threadIdx.x == 2) child<<<1, 1>>>(p);
}

int main() {
  parent<<<2, 4>>>(nullptr);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
