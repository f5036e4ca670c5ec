// ld.shared::cta at another block's address.
// stderr: illegal instruction in kernel reach\(.*use \.shared::cluster
#include "tests/kernels/kernel_test.cuh"

__global__ void __cluster_dims__(2, 1, 1) reach(int* out) {
  __shared__ int value;
  value = threadIdx.x;
  unsigned there, rank;
  int got;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"((unsigned)__cvta_generic_to_shared(&value)), "r"(rank ^ 1));
  asm volatile("ld.shared::cta.s32 %0, [%1];" : "=r"(got) : "r"(there) : "memory");
  *out = got;
}

int main() {
  int* out;
  CHECK(cudaMalloc(&out, 4));
  reach<<<2, 1>>>(out);
  SAY(cudaDeviceSynchronize());
}
