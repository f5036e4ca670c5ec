// Shared memory of another block of the cluster, used when that block may not have begun.
#include <cooperative_groups.h>

#include "tests/kernels/check/check_test.cuh"

namespace cg = cooperative_groups;
enum class Begins { unknown, barrier, relaxed_barrier, flag, relayed };
enum class Use { store, atomic };

__device__ void signal(unsigned* flag) {
  asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}
__device__ void wait_for(unsigned* flag) {
  unsigned came = 0;
  while (came == 0)
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(came) : "l"(flag) : "memory");
}

// Blocks 1 and up let block 0 know that they have begun. It then uses the shared memory of the
// last.
template <Begins begins, Use use>
__global__ void first_use(unsigned* flags, int* out, unsigned blocks) {
  __shared__ int box;
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  if (begins == Begins::barrier) cluster.sync();
  if (begins == Begins::relaxed_barrier) {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  }
  if (threadIdx.x == 0) {
    if (begins == Begins::flag && rank == blocks - 1) signal(&flags[0]);
    if (begins == Begins::relayed && rank != 0) {
      if (rank + 1 != blocks) wait_for(&flags[rank + 1]);
      signal(&flags[rank]);
    }
    if (rank == 0) {
      if (begins == Begins::flag) wait_for(&flags[0]);
      if (begins == Begins::relayed) wait_for(&flags[1]);
      int* const other = cluster.map_shared_rank(&box, blocks - 1);
      if (use == Use::store) *other = 5;             // [stores]
      if (use == Use::atomic) atomicExch(other, 5);  // [exchanges]
    }
  }
  cluster.sync();
  if (threadIdx.x == 0 && rank == blocks - 1) out[0] = box;
}

// Each warp of a block hears of the other block by itself or by the block's barrier.
template <bool right>
__global__ void __cluster_dims__(2, 1, 1) one_warp_knows(unsigned* flag, int* out) {
  __shared__ int box;
  const auto cluster = cg::this_cluster();
  if (cluster.block_rank() == 1 && threadIdx.x == 0) signal(flag);
  if (cluster.block_rank() == 0) {
    if (threadIdx.x == 0) wait_for(flag);
    if (right) __syncthreads();
    if (threadIdx.x == 32) *cluster.map_shared_rank(&box, 1) = 5;  // [stores too]
  }
  cluster.sync();
  if (threadIdx.x == 0 && cluster.block_rank() == 1) out[0] = box;
}

template <Begins begins, Use use = Use::store>
void run() {
  Buffer<unsigned> flags(4);
  Buffer<int> out(1);
  const unsigned blocks = begins == Begins::relayed ? 3 : 2;
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute shape;
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim = {blocks, 1, 1};
  config.gridDim = blocks, config.blockDim = 64, config.attrs = &shape, config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, first_use<begins, use>, flags.device, out.device, blocks));
  out.read();
}
template <bool right>
void run_one_warp() {
  Buffer<unsigned> flag(1);
  Buffer<int> out(1);
  one_warp_knows<right><<<2, 64>>>(flag, out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"store", run<Begins::unknown>},
                   {"atomic", run<Begins::unknown, Use::atomic>},
                   {"barrier", run<Begins::barrier>},
                   {"relaxed_barrier", run<Begins::relaxed_barrier>},
                   {"flag", run<Begins::flag>},
                   {"relayed", run<Begins::relayed>},
                   {"one_warp_knows", run_one_warp<false>},
                   {"one_warp_knows_twin", run_one_warp<true>}});
}
