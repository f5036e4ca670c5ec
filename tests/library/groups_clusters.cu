// arch: sm_90a
// Blocks of a cluster: shapes, barriers, and one another's shared memory.
#include <inflight/groups.cuh>
#include <inflight/ptx/address.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace cg = inflight;

__device__ bool same(dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

__global__ void __cluster_dims__(2, 2, 1) shapes(unsigned* wrong) {
  auto cluster = cg::this_cluster();
  auto grid = cg::this_grid();
  dim3 at(blockIdx.x % 2, blockIdx.y % 2, 0);
  unsigned rank = at.x + 2 * at.y, thread = threadIdx.x + 8 * threadIdx.y;
  __shared__ int values[16];
  const bool holds[] = {
      cluster.num_blocks() == 4 && cluster.block_rank() == rank,
      same(cluster.dim_blocks(), dim3(2, 2, 1)) && same(cluster.block_index(), at),
      cluster.num_threads() == 64 && cluster.size() == 64,
      cluster.thread_rank() == rank * 16 + thread,
      same(cluster.dim_threads(), dim3(16, 4, 1)),
      same(cluster.thread_index(), dim3(at.x * 8 + threadIdx.x, at.y * 2 + threadIdx.y, 0)),
      cluster.query_shared_rank(values) == rank,
      cluster.query_shared_rank(cluster.map_shared_rank(values + 3, 2)) == 2,
      grid.num_clusters() == 4 && same(grid.dim_clusters(), dim3(2, 2, 1)),
      grid.cluster_rank() == blockIdx.x / 2 + 2 * (blockIdx.y / 2),
      same(grid.cluster_index(), dim3(blockIdx.x / 2, blockIdx.y / 2, 0)),
      cg::group_size(cluster) == 64,
      reinterpret_cast<int*>(__cvta_shared_to_generic(inflight::ptx::map_shared_to_rank(
          inflight::ptx::shared_address(values), 3))) == cluster.map_shared_rank(values, 3),
  };
  for (int i = 0; i < int(sizeof holds); ++i)
    if (!holds[i]) atomicAdd(&wrong[i], 1);
}

// Passes a value around the cluster's blocks, through their shared memory.
__global__ void __cluster_dims__(4, 1, 1) around(int* out) {
  auto cluster = cg::this_cluster();
  __shared__ int slot[2][64];
  int value = int(blockIdx.x * 64 + threadIdx.x);
  cluster.sync();  // all blocks have begun
  for (int round = 0; round < 6; ++round) {
    *cluster.map_shared_rank(&slot[round % 2][63 - threadIdx.x], (cluster.block_rank() + 1) % 4) =
        value + 1;
    if (round % 3 == 0) {
      cluster.sync();
    } else if (round % 3 == 1) {
      auto token = cluster.barrier_arrive();
      cluster.barrier_wait(static_cast<decltype(token)&&>(token));
    } else {
      cluster.barrier_arrive();
      cluster.barrier_wait();
    }
    value = slot[round % 2][threadIdx.x];
  }
  out[blockIdx.x * 64 + threadIdx.x] = value;
  cg::sync(cluster);
}

__global__ void alone(unsigned* out) {
  auto cluster = cg::this_cluster();
  inflight::ptx::cluster_arrive_relaxed();
  inflight::ptx::cluster_wait();
  if (threadIdx.x == 0) atomicAdd(out, cluster.num_blocks() + cluster.block_rank());
}

// Each block's tiles of several warps, with only the reserved bytes as memory.
__global__ void __cluster_dims__(4, 1, 1) wide_tiles(int* out) {
  auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  int value = blockIdx.x * 1000 + int(threadIdx.x);
  for (unsigned round = 0; round < 20; ++round) value = tile.shfl(value, round % 64) + 1;
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
  cg::this_cluster().sync();
}

int main() {
  Buffer<unsigned> wrong(13), blocks(1);
  shapes<<<dim3(4, 4), dim3(8, 2)>>>(wrong);
  print("threads for which a member was wrong", wrong.read());
  Buffer<int> out(8 * 64);
  around<<<8, 64>>>(out);
  bool right = true;
  for (int b = 0; b < 8; ++b)
    for (int t = 0; t < 64; ++t)
      right &= out.read()[b * 64 + t] == (b / 4 * 4 + (b + 2) % 4) * 64 + t + 6;
  std::printf("around the cluster: %s\n", right ? "right" : "WRONG");
  Buffer<int> tiles(8 * 256);
  wide_tiles<<<8, 256>>>(tiles);
  right = true;
  for (int b = 0; b < 8; ++b)
    for (int t = 0; t < 256; ++t) right &= tiles.read()[b * 256 + t] == b * 1000 + t / 64 * 64 + 20;
  std::printf("tiles of 64 without memory: %s\n", right ? "right" : "WRONG");
  alone<<<3, 32>>>(blocks);
  std::printf("without clusters: %u blocks in three clusters\n", blocks.read()[0]);
}
