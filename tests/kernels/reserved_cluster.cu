// arch: sm_90a
// stderr: illegal instruction in kernel.*addresses block rank 0
// In a cluster, the special registers' address of reserved shared memory is that of the block with
// rank 0: .shared::cluster may access it, and .shared, the own block's window, may not.
#include "tests/kernels/kernel_test.cuh"

template <bool cluster>
__global__ void __cluster_dims__(4, 1, 1) set_bit(unsigned* out) {
  unsigned at, mine;
  const unsigned rank = blockIdx.x % 4;
  asm("mov.u32 %0, %%reserved_smem_offset_1;" : "=r"(at));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mine) : "r"(at), "r"(rank));
  const auto meet = [] {
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  };
  meet();
  if (cluster)
    asm volatile("red.shared::cluster.or.b32 [%0], %1;" ::"r"(at), "r"(1u << rank) : "memory");
  else asm volatile("red.shared.or.b32 [%0], %1;" ::"r"(at), "r"(1u << rank) : "memory");
  meet();
  unsigned word;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(word) : "r"(mine) : "memory");
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(mine), "r"(0) : "memory");
  out[2 * blockIdx.x] = at;
  out[2 * blockIdx.x + 1] = word;
}

int main() {
  Buffer<unsigned> out(16);
  set_bit<true><<<8, 1>>>(out);
  print("address, and each block's word", out.read(), 2);
  set_bit<false><<<8, 1>>>(out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
