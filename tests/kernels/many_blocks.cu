// More blocks than a device holds at once, of odd sizes. Each writes its own element.
#include "tests/kernels/kernel_test.cuh"

__global__ void fill(unsigned* out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i * 2654435761u ^ blockIdx.x;
}
__global__ void one_thread(unsigned* count) { atomicAdd(count, blockIdx.x & 3); }
__global__ void full_blocks(unsigned* out) {
  __shared__ unsigned s[1024];
  s[threadIdx.x] = threadIdx.x ^ blockIdx.x;
  __syncthreads();
  out[blockIdx.x * 1024 + threadIdx.x] = s[1023 - threadIdx.x];
}

int main() {
  const unsigned n = 300000;
  Buffer<unsigned> a(n), b(1), c(50 * 1024);
  fill<<<(n + 100) / 101, 101>>>(a, n);
  one_thread<<<20000, 1>>>(b);
  full_blocks<<<50, 1024>>>(c);
  print_checksum("fill", a.read());
  print("one_thread", b.read());
  print_checksum("full_blocks", c.read());
}
