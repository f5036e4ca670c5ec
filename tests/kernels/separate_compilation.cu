// flags: -rdc=true
// with: part/other_unit.cu
// Functions, variables and kernels across translation units.
#include "tests/kernels/kernel_test.cuh"

extern __device__ int shared_counter;
extern __constant__ int other_constants[4];
extern __device__ int triple(int);
extern __device__ int (*other_pointer)(int);
extern __global__ void other_kernel(int* out);
static __device__ int hidden(int v) { return v + 1000; }
__device__ int from_main(int v) { return hidden(v) * 2; }

__global__ void main_kernel(int* out) {
  atomicAdd(&shared_counter, 1);
  out[threadIdx.x] =
      triple(threadIdx.x) + other_constants[threadIdx.x % 4] + other_pointer(threadIdx.x);
}

int main() {
  Buffer<int> a(64), b(64);
  main_kernel<<<1, 64>>>(a);
  other_kernel<<<1, 64>>>(b);
  print("main_kernel", a.read());
  print("other_kernel", b.read());
  int counter;
  CHECK(cudaMemcpyFromSymbol(&counter, shared_counter, sizeof counter));
  std::printf("counter %d\n", counter);
}
