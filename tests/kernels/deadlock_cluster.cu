// One block of the cluster never arrives at barrier.cluster.
// software-only
// exit: 0
// stderr: deadlock in kernel half\(.*the cluster that begins at block \(2,0,0\)
// stderr: wait at barrier.cluster, where 32 of 64 threads have arrived
// stderr: wait for the mbarrier at shared offset
#include "tests/kernels/kernel_test.cuh"

__global__ void __cluster_dims__(2, 1, 1) half() {
  __shared__ alignas(8) unsigned long long bar;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
  __syncthreads();
  if (blockIdx.x == 3)
    asm volatile(
        "{ .reg .pred p;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
        "@!p bra again; }" ::"r"(at)
        : "memory");
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

int main() {
  half<<<4, 32>>>();
  SAY(cudaDeviceSynchronize());
}
