// arch: sm_90a
// C = A * B^T in bf16 with sums in f32: 128 x 256 tiles in clusters of two blocks, which share a
// tile of B by multicast. One warpgroup of each block fetches, two multiply, and the grid persists
// over all tiles. `matrix_product M N K` checks its result, and `matrix_product --measure N` prints
// TFLOP/s beside cuBLAS.
#include <cuda_bf16.h>

#include <algorithm>
#include <cstring>
#include <inflight/block_roles.cuh>
#include <inflight/cluster_group.cuh>
#include <inflight/cluster_pipeline.cuh>
#include <inflight/dynamic_shared.cuh>
#include <inflight/launch.cuh>
#include <inflight/store_pipeline.cuh>
#include <inflight/tensor_copy.cuh>
#include <inflight/warpgroup_product.cuh>

#include "examples/example.cuh"
#include "examples/products.cuh"

namespace {

using number = __nv_bfloat16;
constexpr int rows = 128, columns = 256, depth = 64, stages = 4, blocks = 2;
constexpr auto b128 = inflight::swizzle::b128;
using tile_a = inflight::swizzled_tile<number, rows, depth, b128>;
using tile_b = inflight::swizzled_tile<number, columns, depth, b128>;
using part_b = inflight::swizzled_tile<number, columns / blocks, depth, b128>;  // one block's share
using tile_c = inflight::swizzled_tile<number, 64, 64, b128>;

using fetching = inflight::warpgroup_role<1, 40>;
using multiplying = inflight::warpgroup_role<2, 232>;
using roles = inflight::block_roles<fetching, multiplying>;

struct storage {
  tile_a a[stages];
  tile_b b[stages];
  tile_c c[2][2];  // of each multiplying warpgroup
  inflight::cluster_pipeline_state<stages, tile_a::transaction_bytes + tile_b::transaction_bytes>
      state;
};

// The tiles of one cluster after another, in columns of eight clusters' height, so that blocks that
// run at once share rows and columns in L2.
struct schedule {
  int height, width;  // of C, in tiles of a cluster
  __device__ int2 operator[](int i) const {
    const int first = i / (8 * width) * 8, high = min(8, height - first), rest = i % (8 * width);
    return {first + rest % high, rest / high};
  }
};

__global__ void __cluster_dims__(blocks) __launch_bounds__(roles::threads, 1)
    multiply(const __grid_constant__ inflight::tile_map<tile_a> map_a,
             const __grid_constant__ inflight::tile_map<part_b> map_b,
             const __grid_constant__ inflight::tile_map<tile_c> map_c, schedule tiles, int steps) {
  auto& shared = inflight::dynamic_shared<storage>();
  auto cluster = inflight::this_cluster();
  constexpr std::uint16_t both = 0b11;
  const int rank = cluster.block_rank(), clusters = gridDim.x / blocks;
  if (threadIdx.x == 0) shared.state.init(multiplying::threads / 32, both);
  cluster.sync();

  const auto fetch = [&](auto role) {
    if (role.thread_rank() != 0) return;
    inflight::cluster_producer fill(shared.state);
    for (int i = blockIdx.x / blocks; i < tiles.height * tiles.width; i += clusters) {
      const int2 at = tiles[i];
      for (int k = 0; k < steps; ++k) {
        fill.acquire();  // free in both blocks; this block's stage expects its tiles
        inflight::copy_async(shared.a[fill.stage()], map_a,
                             {k * depth, (at.x * blocks + rank) * rows}, fill);
        auto& part = inflight::tile_rows<part_b::rows>(shared.b[fill.stage()], rank * part_b::rows);
        inflight::multicast_async(part, map_b, {k * depth, at.y * columns + rank * part_b::rows},
                                  fill, both);
        fill.commit();
      }
    }
    fill.tail();
  };

  const auto multiply_and_store = [&](auto role) {
    const int half = role.warpgroup_rank();
    const auto group = role.warpgroup();
    inflight::cluster_consumer use(shared.state, both);
    inflight::store_pipeline<2> stores;
    inflight::warpgroup_sum<float, columns> sum;
    for (int i = blockIdx.x / blocks; i < tiles.height * tiles.width; i += clusters) {
      sum.clear();
      for (int k = 0; k < steps; ++k) {
        use.wait();
        inflight::multiply_async(sum, inflight::matrix_rows<64>(shared.a[use.stage()], half * 64),
                                 inflight::matrix_rows(shared.b[use.stage()]));
        use.advance();
        inflight::products_wait<1>();  // the step before has read its stage
        if (k > 0) use.release_prior();
      }
      const auto& values = sum.wait();
      use.release_prior();
      const int2 at = tiles[i];
      const int y = (at.x * blocks + rank) * rows + half * 64;
#pragma unroll
      for (int x = 0; x < columns; x += tile_c::columns) {
        tile_c& box = shared.c[half][stores.acquire(group)];
        inflight::store_rows<tile_c::columns>(box, 0, 0, values, x);
        stores.commit(group, [&] { inflight::store_async(map_c, {at.y * columns + x, y}, box); });
      }
    }
    stores.drain(group);
  };
  roles::run(fetch, multiply_and_store);
}

using product = matrix_product<number>;

void launch(const product& p, int most_blocks) {
  inflight::tensor_map_options options;
  options.l2_promotion = inflight::tensor_l2_promotion::b256;
  const auto a = inflight::make_tensor_map<tile_a>(p.a, {p.k, p.m}, options).value();
  const auto b = inflight::make_tensor_map<part_b>(p.b, {p.k, p.n}, options).value();
  const auto c = inflight::make_tensor_map<tile_c>(p.c, {p.n, p.m}).value();
  const schedule tiles{(p.m + rows * blocks - 1) / (rows * blocks), (p.n + columns - 1) / columns};
  const int grid = std::min(most_blocks / blocks, tiles.height * tiles.width) * blocks;
  CHECK(inflight::launch_cluster(multiply, blocks, grid, roles::threads,
                                 inflight::dynamic_shared_bytes<storage>(), nullptr, a, b, c, tiles,
                                 (p.k + depth - 1) / depth));
}

// Small numbers whose sums are exact in f32, or, to measure, numbers of any bits from -1 to 1.
std::vector<number> values(std::size_t count, unsigned seed, bool any_bits) {
  std::vector<number> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    all[i] = __float2bfloat16(any_bits ? float(int(seed)) / 2147483648.0f
                                       : float(seed >> 13 & 7) - 3.5f);
  }
  return all;
}

bool check(const product& p, const std::vector<number>& a, const std::vector<number>& b) {
  const std::vector<number> c = host_copy(p.c, std::size_t(p.m) * p.n);
  std::vector<float> x(a.size()), y(b.size());
  std::transform(a.begin(), a.end(), x.begin(), [](number v) { return __bfloat162float(v); });
  std::transform(b.begin(), b.end(), y.begin(), [](number v) { return __bfloat162float(v); });
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j) {
      float wanted = 0;
      for (int k = 0; k < p.k; ++k) wanted += x[i * p.k + k] * y[j * p.k + k];
      wanted = __bfloat162float(__float2bfloat16(wanted));
      if (__bfloat162float(c[std::size_t(i) * p.n + j]) != wanted) return false;
    }
  return true;
}

}  // namespace

int main(int count, char** argument) {
  const bool measure = count == 3 && std::strcmp(argument[1], "--measure") == 0;
  product p{512, 768, 192, nullptr, nullptr, nullptr};
  if (measure) p.m = p.n = p.k = std::atoi(argument[2]);
  if (count == 4) p = {std::atoi(argument[1]), std::atoi(argument[2]), std::atoi(argument[3])};
  const auto a = values(std::size_t(p.m) * p.k, 1, measure),
             b = values(std::size_t(p.n) * p.k, 2, measure);
  p.a = device_copy(a), p.b = device_copy(b);
  p.c = device_copy(std::vector<number>(std::size_t(p.m) * p.n));
  if (!measure) {
    const double seconds = seconds_of([&] { launch(p, 4); });  // two clusters take all tiles in turn
    const double bytes = 2.0 * (double(p.m) * p.k + double(p.n) * p.k + double(p.m) * p.n);
    return report("matrix product, bf16, 128 x 256 tiles", bytes, seconds, check(p, a, b)) ? 0 : 1;
  }
  int processors = 0;
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  const auto cublas = by_cublas(p, CUDA_R_16BF);
  for (int round = 0; round < 5; ++round) {
    const double theirs = cublas ? teraflops(p, cublas) : 0;
    const double ours = teraflops(p, [&] { launch(p, processors); });
    std::printf("  %d cubed: %.1f TFLOP/s, cuBLAS %.1f\n", p.m, ours, theirs);
  }
}
