// The src-size of a cp.async is greater than its cp-size.
#include "tests/kernels/check/check_test.cuh"

__global__ void copy(int* out, const int* in, int bytes) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  const unsigned to = shared_address(&tile[t]);
  // [copy]
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(in + t), "r"(bytes));
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = tile[t];
}

void copied(int bytes) {
  Buffer<int> in(64), out(64);
  copy<<<1, 64>>>(out, in, bytes);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv, {{"mistake", [] { copied(8); }}, {"twin", [] { copied(4); }}});
}
