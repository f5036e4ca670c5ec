// arch: sm_90a
// Pipelines over clusters: each block copies a part of a tile to all blocks and a tile of its own
// to itself. Roles of warpgroups produce and consume, and a pipeline of stores takes the results.
#include <inflight/block_roles.cuh>
#include <inflight/cluster_group.cuh>
#include <inflight/cluster_pipeline.cuh>
#include <inflight/launch.cuh>
#include <inflight/store_pipeline.cuh>

#include "tests/library/tensors.cuh"

namespace {

using inflight::swizzle;
constexpr int columns = 32;

template <int Rows>
using tile = inflight::swizzled_tile<int, Rows, columns, swizzle::b128>;

// out[block][batch] = own tile of the batch + the tile that all blocks of the cluster share.
template <int Blocks, int Stages, int Stores, int Consumers, bool Ahead>
__global__ void add(const __grid_constant__ inflight::tile_map<tile<8 * Blocks>> own_map,
                    const __grid_constant__ inflight::tile_map<tile<8>> part_map, int* out,
                    int batches) {
  using whole = tile<8 * Blocks>;
  using producers = inflight::warpgroup_role<1>;
  using consumers = inflight::warpgroup_role<Consumers>;
  using roles = inflight::block_roles<producers, consumers>;
  __shared__ whole own[Stages], shared[Stages];
  alignas(16) __shared__ int sums[Stores][8 * Blocks * columns];
  __shared__ inflight::cluster_pipeline_state<Stages, 2 * whole::transaction_bytes> state;
  auto cluster = inflight::this_cluster();
  const int rank = cluster.block_rank(), first_batch = blockIdx.x / Blocks * batches;
  constexpr std::uint16_t all = (1 << Blocks) - 1;
  if (threadIdx.x == 0) state.init(consumers::threads / 32, all);
  cluster.sync();
  roles::run(
      [&](auto role) {
        if (role.thread_rank() != 0) return;
        inflight::cluster_producer fill(state);
        bool free = false;
        for (int i = 0; i < batches; ++i) {
          fill.acquire(free);
          const int batch = first_batch + i;
          inflight::copy_async(own[fill.stage()], own_map,
                               {0, (batch * Blocks + rank) * 8 * Blocks}, fill);
          inflight::multicast_async(inflight::tile_rows<8>(shared[fill.stage()], 8 * rank),
                                    part_map, {0, batch * 8 * Blocks + 8 * rank}, fill, all);
          fill.commit();
          free = Ahead && i + 1 < batches && fill.try_acquire();
        }
        fill.tail();
      },
      [&](auto role) {
        inflight::cluster_consumer use(state, all);
        inflight::store_pipeline<Stores> stores;
        bool full = false;
        for (int i = 0; i < batches; ++i) {
          int* const to = sums[stores.acquire(role)];
          use.wait(full);
          for (int k = role.thread_rank(); k < 8 * Blocks * columns; k += role.size())
            to[k] = own[use.stage()](k / columns, k % columns) +
                    shared[use.stage()](k / columns, k % columns);
          use.release();
          full = Ahead && i + 1 < batches && use.try_wait();
          stores.commit(role, [&] {
            inflight::bulk_store(out + ((first_batch + i) * Blocks + rank) * 8 * Blocks * columns,
                                 to, sizeof sums[0]);
          });
        }
        stores.drain(role);
        // Each warpgroup of the role has a barrier of its own.
        if (role.warpgroup_rank() == 0) role.warpgroup().sync();
      });
}

template <int Blocks, int Stages, int Stores, int Consumers, bool Ahead>
void test() {
  constexpr int clusters = 2, batches = 7, rows = 8 * Blocks;
  Buffer<int> own(numbered<int>(std::size_t(clusters * batches * Blocks * rows * columns)));
  Buffer<int> shared(numbered<int>(std::size_t(clusters * batches * rows * columns)));
  Buffer<int> out(own.host.size());
  const auto own_map = good(
      inflight::make_tensor_map<tile<rows>>(own, {columns, clusters * batches * Blocks * rows}));
  const auto part_map =
      good(inflight::make_tensor_map<tile<8>>(shared, {columns, clusters * batches * rows}));
  inflight::launch_cluster(add<Blocks, Stages, Stores, Consumers, Ahead>, Blocks,
                           clusters * Blocks, 128 * (1 + Consumers), 0, nullptr, own_map, part_map,
                           out.device, batches);
  out.read();
  bool right = true;
  const int size = rows * columns;
  for (std::size_t i = 0; i < out.host.size(); ++i)
    right = right && out.host[i] == own.host[i] + shared.host[i / (size * Blocks) * size + i % size];
  char what[80];
  std::snprintf(what, sizeof what, "%d blocks, %d stages, %d of stores, %d consumers%s", Blocks,
                Stages, Stores, Consumers, Ahead ? ", tried ahead" : "");
  verdict(what, right);
}

}  // namespace

int main() {
  test<1, 2, 1, 1, false>();
  test<2, 1, 2, 2, false>();
  test<2, 3, 2, 1, true>();
  test<2, 4, 3, 2, true>();
  test<4, 2, 1, 2, false>();
  test<4, 3, 2, 1, true>();
}
