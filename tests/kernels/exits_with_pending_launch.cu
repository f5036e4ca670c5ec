// exit: 3
// A program that ends while a kernel waits to run, as one does that forgets to wait: nothing is said.
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
