// A kernel may write constant memory through its address. Later kernels read what it wrote.
#include <cstdio>

__constant__ int table[64];

__global__ void write(int* at) { at[threadIdx.x] = threadIdx.x + 5; }
__global__ void add(int* at) { atomicAdd(at + threadIdx.x, 100); }
__global__ void read(int* out) { out[threadIdx.x] = table[63 - threadIdx.x]; }

int main() {
  void* address;
  int *out, values[64] = {};
  cudaGetSymbolAddress(&address, table);
  cudaMalloc(&out, sizeof values);
  write<<<1, 64>>>(static_cast<int*>(address));
  std::printf("%d\n", cudaDeviceSynchronize());
  cudaMemcpyFromSymbol(values, table, sizeof values);
  std::printf("%d %d\n", values[0], values[9]);
  add<<<1, 64>>>(static_cast<int*>(address));
  read<<<1, 64>>>(out);
  cudaMemcpy(values, out, sizeof values, cudaMemcpyDefault);
  std::printf("%d %d\n", values[0], values[63]);
}
