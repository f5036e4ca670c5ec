// Mistakes with matrix products and pipelines over clusters, one for each argument, and what is
// right. `inflight check` must name each of them, and nothing in `twin`.
// case: twin
// case: tile_without_fence missing-proxy-fence
// case: tile_overwritten source-modified-in-flight
// case: stage_released_early source-modified-in-flight
// case: stage_without_wait read-before-wait
// case: store_stage_reused source-modified-in-flight
// case: stage_never_released deadlock
#include <cuda_bf16.h>

#include <cstdio>
#include <cstring>
#include <inflight/block_roles.cuh>
#include <inflight/cluster_group.cuh>
#include <inflight/cluster_pipeline.cuh>
#include <inflight/dynamic_shared.cuh>
#include <inflight/launch.cuh>
#include <inflight/store_pipeline.cuh>
#include <inflight/tensor_copy.cuh>
#include <inflight/warpgroup_product.cuh>

namespace {

enum class mistake {
  none,
  tile_without_fence,
  tile_overwritten,
  stage_released_early,
  stage_without_wait,
  store_stage_reused,
  stage_never_released
};
const char* const names[] = {"twin",
                             "tile_without_fence",
                             "tile_overwritten",
                             "stage_released_early",
                             "stage_without_wait",
                             "store_stage_reused",
                             "stage_never_released"};

constexpr int blocks = 2, stages = 2, steps = 6;
constexpr std::uint16_t both = 0b11;
using number = __nv_bfloat16;
using tile = inflight::swizzled_tile<number, 64, 64, inflight::swizzle::b128>;
using half = inflight::swizzled_tile<number, 32, 64, inflight::swizzle::b128>;
using fetching = inflight::warpgroup_role<1>;
using multiplying = inflight::warpgroup_role<1>;
using roles = inflight::block_roles<fetching, multiplying>;

struct storage {
  tile a[stages], b[stages], out[2], own;
  inflight::cluster_pipeline_state<stages, 2 * tile::transaction_bytes> state;
};

template <mistake Mistake>
__global__ void __launch_bounds__(roles::threads)
    multiply(const __grid_constant__ inflight::tile_map<half> map,
             const __grid_constant__ inflight::tile_map<tile> out_map) {
  auto& shared = inflight::dynamic_shared<storage>();
  auto cluster = inflight::this_cluster();
  const int rank = cluster.block_rank();
  for (int i = threadIdx.x; i < 64 * 64; i += roles::threads)
    shared.own(i / 64, i % 64) = __float2bfloat16(1);
  if (Mistake != mistake::tile_without_fence) inflight::release_to_async();
  if (threadIdx.x == 0) shared.state.init(multiplying::threads / 32, both);
  cluster.sync();
  roles::run(
      [&](auto role) {
        if (role.thread_rank() != 0) return;
        inflight::cluster_producer fill(shared.state);
        for (int i = 0; i < steps; ++i) {
          fill.acquire();
          tile* const of_stage[] = {&shared.a[fill.stage()], &shared.b[fill.stage()]};
          for (tile* t : of_stage)
            inflight::multicast_async(inflight::tile_rows<32>(*t, rank * 32), map,
                                      {0, i * 64 + rank * 32}, fill, both);
          fill.commit();
        }
        fill.tail();
      },
      [&](auto role) {
        inflight::cluster_consumer use(shared.state, both);
        inflight::store_pipeline<2> stores;
        inflight::warpgroup_sum<float, 64> sum;
        sum.clear();
        inflight::multiply_async(sum, inflight::matrix_rows(shared.own),
                                 inflight::matrix_rows(shared.own));
        if (Mistake == mistake::tile_overwritten)
          shared.own(threadIdx.x % 64, 0) = __float2bfloat16(2);
        for (int i = 0; i < steps; ++i) {
          if (Mistake != mistake::stage_without_wait) use.wait();
          inflight::multiply_async(sum, inflight::matrix_rows(shared.a[use.stage()]),
                                   inflight::matrix_rows(shared.b[use.stage()]));
          if (Mistake != mistake::stage_released_early) inflight::products_wait();
          if (Mistake != mistake::stage_never_released)
            use.release();
          else
            use.advance();
        }
        const auto& values = sum.wait();
        for (int i = 0; i < 3; ++i) {
          int stage = i % 2;
          if (Mistake != mistake::store_stage_reused) stage = stores.acquire(role);
          inflight::store_rows(shared.out[stage], 0, 0, values);
          stores.commit(role, [&] {
            inflight::store_async(out_map, {0, (blockIdx.x * 3 + i) * 64}, shared.out[stage]);
          });
        }
        stores.drain(role);
      });
}

template <mistake Mistake>
void run() {
  number *in, *out;
  cudaMalloc(&in, steps * sizeof(tile));
  cudaMalloc(&out, blocks * 3 * sizeof(tile));
  cudaMemset(in, 0, steps * sizeof(tile));
  const auto map = inflight::make_tensor_map<half>(in, {64, steps * 64}).value();
  const auto out_map = inflight::make_tensor_map<tile>(out, {64, blocks * 3 * 64}).value();
  inflight::launch_cluster(multiply<Mistake>, blocks, blocks, roles::threads,
                           inflight::dynamic_shared_bytes<storage>(), nullptr, map, out_map);
  cudaDeviceSynchronize();
}

}  // namespace

int main(int count, char** argument) {
  void (*const cases[])() = {run<mistake::none>,
                             run<mistake::tile_without_fence>,
                             run<mistake::tile_overwritten>,
                             run<mistake::stage_released_early>,
                             run<mistake::stage_without_wait>,
                             run<mistake::store_stage_reused>,
                             run<mistake::stage_never_released>};
  for (int i = 0; i < int(sizeof names / sizeof names[0]); ++i)
    if (count == 2 && std::strcmp(argument[1], names[i]) == 0) return cases[i](), 0;
  std::puts("no such case");
  return 1;
}
