// arch: sm_90a
#include <cstdio>
#include <inflight/block_roles.cuh>
#include <inflight/cluster_group.cuh>
#include <inflight/cluster_pipeline.cuh>
#include <inflight/launch.cuh>
#include <inflight/store_pipeline.cuh>
#include <inflight/tensor_copy.cuh>

constexpr int rows = 32, batches = 10, stages = 3, blocks = 2;
constexpr std::uint16_t both = 0b11;  // a bit for each block of the cluster
using tile = inflight::swizzled_tile<int, rows, 32, inflight::swizzle::b128>;
using part = inflight::swizzled_tile<int, rows / blocks, 32, inflight::swizzle::b128>;

using fetching = inflight::warpgroup_role<1, 40>;   // one warpgroup, 40 registers a thread
using adding = inflight::warpgroup_role<2, 232>;    // two, 232 registers
using roles = inflight::block_roles<fetching, adding>;

// Each block adds the tile that both share to tiles of its own.
__global__ void __launch_bounds__(roles::threads, 1)
    add(const __grid_constant__ inflight::tile_map<tile> own_map,
        const __grid_constant__ inflight::tile_map<part> shared_map,
        const __grid_constant__ inflight::tile_map<tile> sum_map) {
  __shared__ tile own[stages], shared[stages], sums[2];
  __shared__ inflight::cluster_pipeline_state<stages, 2 * tile::transaction_bytes> state;
  auto cluster = inflight::this_cluster();
  const int rank = cluster.block_rank();
  if (threadIdx.x == 0) state.init(adding::threads / 32, both);
  cluster.sync();  // both blocks' barriers are there

  const auto fetch = [&](auto role) {
    if (role.thread_rank() != 0) return;
    inflight::cluster_producer fill(state);
    for (int i = 0; i < batches; ++i) {
      fill.acquire();  // until the stage is free in both blocks
      inflight::copy_async(own[fill.stage()], own_map, {0, (i * blocks + rank) * rows}, fill);
      // Half of the shared tile comes from this block, half from the other, each into both.
      auto& half = inflight::tile_rows<part::rows>(shared[fill.stage()], rank * part::rows);
      inflight::multicast_async(half, shared_map, {0, i * rows + rank * part::rows}, fill, both);
      fill.commit();
    }
    fill.tail();  // until nobody arrives at this block's barriers any more
  };

  const auto use = [&](auto role) {
    inflight::cluster_consumer full(state, both);
    inflight::store_pipeline<2> stores;
    for (int i = 0; i < batches; ++i) {
      tile& sum = sums[stores.acquire(role)];  // no store reads it any more
      full.wait();                             // until all bytes of both tiles are here
      for (int k = role.thread_rank(); k < rows * 32; k += role.size())
        sum(k / 32, k % 32) = own[full.stage()](k / 32, k % 32) + shared[full.stage()](k / 32, k % 32);
      full.release();  // one arrival of each warp at each block
      stores.commit(role, [&] {
        inflight::store_async(sum_map, {0, (i * blocks + rank) * rows}, sum);
      });
    }
    stores.drain(role);
  };
  roles::run(fetch, use);
}

int main() {
  const int own_count = batches * blocks * rows * 32, shared_count = batches * rows * 32;
  int *own, *shared, *sums;
  cudaMallocManaged(&own, own_count * sizeof(int));
  cudaMallocManaged(&shared, shared_count * sizeof(int));
  cudaMallocManaged(&sums, own_count * sizeof(int));
  for (int i = 0; i < own_count; ++i) own[i] = i;
  for (int i = 0; i < shared_count; ++i) shared[i] = 3 * i;
  const auto own_map = inflight::make_tensor_map<tile>(own, {32, batches * blocks * rows}).value();
  const auto shared_map = inflight::make_tensor_map<part>(shared, {32, batches * rows}).value();
  const auto sum_map = inflight::make_tensor_map<tile>(sums, {32, batches * blocks * rows}).value();
  cudaError_t error = inflight::launch_cluster(add, blocks, blocks, roles::threads, 0, nullptr,
                                               own_map, shared_map, sum_map);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  int wrong = 0;
  for (int i = 0; i < own_count; ++i) {
    const int batch = i / (blocks * rows * 32), at = i % (rows * 32);
    wrong += sums[i] != own[i] + shared[batch * rows * 32 + at];
  }
  std::printf("%d of %d sums wrong\n", wrong, own_count);
}
