// exit: 3
// A program that exits while a kernel waits to run, because it forgot to wait. No message appears.
#include <cstdio>
#include <cstdlib>

extern __shared__ int shared[];

__global__ void last_words(int* out, int last) {
  shared[last] = 7;
  __syncthreads();
  if (threadIdx.x == 0) *out = shared[last];
}

int main() {
  int* out = nullptr;
  if (cudaMalloc(&out, sizeof *out) != cudaSuccess) return 1;
  last_words<<<1, 32, 4096>>>(out, 3);
  std::puts("launched");
  std::exit(3);
}
