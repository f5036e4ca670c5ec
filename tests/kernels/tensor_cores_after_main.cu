// A kernel with tensor cores after main has ended: in an atexit function, and in the destructor of
// a function's static object. C++ has destroyed the thread's own objects by then.
#include <mma.h>

#include "tests/kernels/kernel_test.cuh"

namespace {

using namespace nvcuda;

__global__ void multiply(float* to, float factor) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(a, __float2half(factor));
  wmma::fill_fragment(b, __float2half(1.0f));
  wmma::fill_fragment(c, 0.0f);
  wmma::mma_sync(c, a, b, c);
  wmma::store_matrix_sync(to, c, 16, wmma::mem_row_major);
}

float* memory;

void run(const char* when, float factor) {
  float last = 0;
  multiply<<<1, 32>>>(memory, factor);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&last, memory + 255, sizeof last, cudaMemcpyDeviceToHost));
  std::printf("%s: %g\n", when, last);
  std::fflush(stdout);
}

struct Last {
  ~Last() { run("destructor", 3); }
};
void at_exit() { run("atexit", 2); }

}  // namespace

int main() {
  CHECK(cudaMalloc(&memory, 256 * sizeof(float)));
  run("main", 1);
  static Last last;
  std::atexit(at_exit);
}
