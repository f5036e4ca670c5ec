// A kernel that reads cp.async's destination without waiting, and prints the values.
#include "tests/kernels/kernel_test.cuh"

__global__ void forgets(int* out, const int* in) {
  __shared__ volatile int tile[32];
  int t = threadIdx.x;
  tile[t] = -1;
  unsigned to = unsigned(__cvta_generic_to_shared((const void*)&tile[t]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + t) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  out[t] = tile[t];
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  out[32 + t] = tile[t];
}

int main() {
  std::vector<int> in(32);
  for (int i = 0; i < 32; ++i) in[i] = i;
  Buffer<int> source(in), out(64);
  forgets<<<1, 32>>>(out, source);
  print("before and after the wait", out.read(), 32);
}
