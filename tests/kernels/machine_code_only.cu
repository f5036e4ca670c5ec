// arch: compute_90
// flags: -code=sm_90
// without: -lineinfo
// exit: 3
// software-only
// stderr: ^inflight: kernel scale\(float\*\) cannot run: the program holds machine code for sm_90 but no PTX.*rebuild with
// A kernel with only machine code is refused by name and with advice, once.
#include <cstdio>

__global__ void scale(float* p) { p[threadIdx.x] *= 2; }

int main() {
  float* p;
  cudaMalloc(&p, 128);
  for (int i = 0; i < 2; ++i) {
    scale<<<1, 32>>>(p);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  }
  return 3;
}
