// An address of a block rank outside the cluster.
// stderr: launch failure in kernel reach\(.*it addresses block rank 5, but the cluster has only 2
// blocks
#include "tests/kernels/kernel_test.cuh"

__global__ void __cluster_dims__(2, 1, 1) reach(int* out) {
  __shared__ int value;
  value = threadIdx.x;
  unsigned there;
  int got;
  asm("mapa.shared::cluster.u32 %0, %1, 5;"
      : "=r"(there)
      : "r"((unsigned)__cvta_generic_to_shared(&value)));
  asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(got) : "r"(there) : "memory");
  *out = got;
}

int main() {
  int* out;
  CHECK(cudaMalloc(&out, 4));
  reach<<<2, 1>>>(out);
  SAY(cudaDeviceSynchronize());
}
