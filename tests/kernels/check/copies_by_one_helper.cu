// Two copies by one inlined helper, in a loop whose code the compiler repeats: each has its own
// line.
#include <cuda_pipeline.h>

#include "tests/kernels/check/check_test.cuh"

constexpr int n = 32;

template <int allowed>
__global__ void add(const int* left, const int* right, int* out, int tiles) {
  __shared__ int a[2][n], b[2][n];
  const int t = threadIdx.x;
  const auto load = [&](int i) {
    __pipeline_memcpy_async(&a[i % 2][t], &left[i * n + t], 4);   // [copies left]
    __pipeline_memcpy_async(&b[i % 2][t], &right[i * n + t], 4);  // [copies right]
    __pipeline_commit();
  };
  int sum = 0;
  load(0);
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) load(i + 1);
    if (i + 1 < tiles) __pipeline_wait_prior(allowed);
    else __pipeline_wait_prior(0);
    sum += a[i % 2][t];  // [reads left]
    __syncthreads();
    sum += b[i % 2][t];  // [reads right]
    __syncthreads();
  }
  out[t] = sum;
}

template <int allowed>
void run() {
  add<allowed><<<1, n>>>(Buffer<int>(8 * n), Buffer<int>(8 * n), Buffer<int>(n), 8);
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {{"mistake", run<2>}, {"twin", run<1>}});
}
