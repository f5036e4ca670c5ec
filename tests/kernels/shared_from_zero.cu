// Shared memory whose addresses count from 0, as Halide's compiler writes them: the kernel has
// dynamic shared memory and names no variable in it. CUDA's reserved bytes come first, so the
// addresses lie in them and in the dynamic memory behind them.
#include "tests/kernels/kernel_test.cuh"

__device__ void store(unsigned at, unsigned value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
}
__device__ unsigned load(unsigned at) {
  unsigned value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
  return value;
}

// Reverses a row of one word per thread, and leaves the reserved bytes zero.
__global__ void reverse(unsigned* row, unsigned n) {
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < n; i += blockDim.x) store(4 * i, row[i]);
  __syncthreads();
  for (unsigned i = t; i < n; i += blockDim.x) row[i] = load(4 * (n - 1 - i));
  __syncthreads();
  for (unsigned i = t; i < 256; i += blockDim.x) store(4 * i, 0);
}

// A row of 16 bytes that begins in the reserved bytes' last word but three.
__global__ void across(unsigned* out) {
  for (unsigned i = threadIdx.x; i < 12; i += blockDim.x) store(1008 + 4 * i, i * i);
  __syncthreads();
  unsigned a, b, c, d;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(1008 + 16 * threadIdx.x)
               : "memory");
  out[threadIdx.x] = a + 100 * b + 10000 * c + 1000000 * d;
  __syncthreads();
  if (threadIdx.x < 4) store(1008 + 4 * threadIdx.x, 0);
}

int main() {
  for (const unsigned words : {64u, 256u, 1024u, 4096u}) {
    std::vector<unsigned> row(words);
    for (unsigned i = 0; i < words; ++i) row[i] = i * 3 + 1;
    Buffer<unsigned> device(row);
    reverse<<<1, 128, words * 4>>>(device, words);
    const auto back = device.read();
    bool right = true;
    for (unsigned i = 0; i < words; ++i) right &= back[i] == (words - 1 - i) * 3 + 1;
    std::printf("%u words: %s\n", words, right ? "right" : "wrong");
  }
  Buffer<unsigned> out(3);
  across<<<1, 3, 1024>>>(out);
  print("across", out.read());
}
