// Heat in a solid: every element becomes a mean of its seven neighbours, at the speed of memory. A
// block walks up a column of 256 x 32 elements plane by plane. Tensor copies bring each plane with
// its halo, and zeros outside the solid, three planes ahead; the planes above and below are in
// registers.
#include <cmath>
#include <inflight/copy.cuh>
#include <inflight/dynamic_shared.cuh>
#include <inflight/groups.cuh>
#include <inflight/launch.cuh>
#include <inflight/tensor_copy.cuh>

#include "examples/measure.cuh"

namespace {

constexpr int columns = 256, rows = 32, threads = 512, stages = 5;
constexpr int warps_of_row = columns / 128, rows_of_warp = rows * warps_of_row * 32 / threads;
constexpr float rate = 0.125f;

// A box may be 256 wide and begins at a multiple of 16 bytes, so four columns on either side are
// boxes of their own, of which one column is used.
using middle_tile = inflight::swizzled_tile<float, rows + 2, columns>;
using edge_tile = inflight::swizzled_tile<float, rows, 4>;
struct plane {
  middle_tile middle;
  edge_tile left, right;
};
struct solid_maps {
  inflight::tile_map<middle_tile, 3> middle;
  inflight::tile_map<edge_tile, 3> edge;
};

struct extents {
  int x, y, z;
};
struct storage {
  plane ring[stages];
  inflight::barrier<> ready[stages];
};

__host__ __device__ float heated(float at, float left, float right, float front, float back,
                                 float below, float above) {
  const float around = ((left + right) + (front + back)) + (below + above);
  return fmaf(rate, fmaf(-6, at, around), at);
}

// gridDim.z blocks share a column's planes, `planes` each.
__global__ void __launch_bounds__(threads)
    diffuse(float* out, const __grid_constant__ solid_maps from, extents n, int planes) {
  auto& shared = inflight::dynamic_shared<storage>();
  const auto warp = inflight::tiled_partition<32>(inflight::this_thread_block());
  const int lane = int(warp.thread_rank()), of_warp = int(warp.meta_group_rank());
  const int x0 = int(blockIdx.x) * columns, y0 = int(blockIdx.y) * rows,
            row0 = of_warp / warps_of_row * rows_of_warp,
            column = of_warp % warps_of_row * 128 + lane * 4, begin = int(blockIdx.z) * planes,
            end = begin + planes < n.z ? begin + planes : n.z;

  // Plane `z` is turn z - (begin - 1) of the ring.
  const auto fetch = [&](int turn) {
    if (threadIdx.x != 0 || begin - 1 + turn > end) return;
    inflight::transaction copies(shared.ready[turn % stages]);
    plane& to = shared.ring[turn % stages];
    const int z = begin - 1 + turn;
    inflight::copy_async(to.middle, from.middle, {x0, y0 - 1, z}, copies);
    inflight::copy_async(to.left, from.edge, {x0 - 4, y0, z}, copies);
    inflight::copy_async(to.right, from.edge, {x0 + columns, y0, z}, copies);
    copies.arrive();
  };
  const auto wait = [&](int turn) -> const plane& {
    shared.ready[turn % stages].wait_parity(turn / stages % 2);
    return shared.ring[turn % stages];
  };
  // The thread's four elements of a row, from row -1 to `rows`; and one element.
  const auto four = [&](const plane& of, int row) {
    return reinterpret_cast<const float4&>(of.middle(row + 1, column));
  };
  const auto one = [](const plane& of, int row, int column) {
    return column < 0          ? of.left(row, 3)
           : column == columns ? of.right(row, 0)
                               : of.middle(row + 1, column);
  };
  if (threadIdx.x == 0)
    for (auto& ready : shared.ready) ready.init(1);
  for (int turn = 0; turn < stages; ++turn) fetch(turn);
  __syncthreads();

  float4 below[rows_of_warp], at[rows_of_warp], above[rows_of_warp];
  const plane& first = wait(0);
#pragma unroll
  for (int i = 0; i < rows_of_warp; ++i) below[i] = four(first, row0 + i);
  const plane& second = wait(1);
#pragma unroll
  for (int i = 0; i < rows_of_warp; ++i) at[i] = four(second, row0 + i);
  __syncthreads();
  fetch(stages);  // in place of the first
  for (int z = begin; z < end; ++z) {
    const int turn = z - begin + 1;
    const plane& next = wait(turn + 1);
    const plane& here = shared.ring[turn % stages];
    float4 before = four(here, row0 - 1);
    const float4 behind = four(here, row0 + rows_of_warp);
#pragma unroll
    for (int i = 0; i < rows_of_warp; ++i) {
      above[i] = four(next, row0 + i);
      const float4 c = at[i], front = before, back = i + 1 < rows_of_warp ? at[i + 1] : behind;
      float left = warp.shfl_up(c.w, 1), right = warp.shfl_down(c.x, 1);
      if (lane == 0) left = one(here, row0 + i, column - 1);
      if (lane == 31) right = one(here, row0 + i, column + 4);
      const float4 result = {heated(c.x, left, c.y, front.x, back.x, below[i].x, above[i].x),
                             heated(c.y, c.x, c.z, front.y, back.y, below[i].y, above[i].y),
                             heated(c.z, c.y, c.w, front.z, back.z, below[i].z, above[i].z),
                             heated(c.w, c.z, right, front.w, back.w, below[i].w, above[i].w)};
      const int x = x0 + column, y = y0 + row0 + i;
      if (x < n.x && y < n.y)
        __stcs(reinterpret_cast<float4*>(out + (std::size_t(z) * n.y + y) * n.x + x), result);
      before = c;
    }
#pragma unroll
    for (int i = 0; i < rows_of_warp; ++i) below[i] = at[i], at[i] = above[i];
    __syncthreads();  // all have used this plane
    fetch(turn + stages);
  }
}

std::vector<float> step(const std::vector<float>& solid, extents n) {
  std::vector<float> next(solid.size());
  const auto at = [&](int x, int y, int z) {
    const bool inside = x >= 0 && y >= 0 && z >= 0 && x < n.x && y < n.y && z < n.z;
    return inside ? solid[(std::size_t(z) * n.y + y) * n.x + x] : 0.0f;
  };
  for (int z = 0; z < n.z; ++z)
    for (int y = 0; y < n.y; ++y)
      for (int x = 0; x < n.x; ++x)
        next[(std::size_t(z) * n.y + y) * n.x + x] =
            heated(at(x, y, z), at(x - 1, y, z), at(x + 1, y, z), at(x, y - 1, z), at(x, y + 1, z),
                   at(x, y, z - 1), at(x, y, z + 1));
  return next;
}

}  // namespace

int main(int argc, char** argv) {
  const extents n = measures(argc, argv) ? extents{512, 512, 512} : extents{300, 75, 13};
  std::vector<float> solid(std::size_t{1} * n.x * n.y * n.z);
  for (std::size_t i = 0; i < solid.size(); ++i) solid[i] = float(unsigned(i * 2654435761u) >> 16);
  float *in = device_copy(solid), *out = device_copy(std::vector<float>(solid.size()));
  const solid_maps maps = {inflight::make_tensor_map<middle_tile>(in, {n.x, n.y, n.z}).value(),
                           inflight::make_tensor_map<edge_tile>(in, {n.x, n.y, n.z}).value()};

  constexpr std::size_t shared = inflight::dynamic_shared_bytes<storage>();
  unsigned blocks = 0;
  CHECK(inflight::full_grid(&blocks, diffuse, threads, shared));
  const unsigned across = (n.x + columns - 1) / columns, deep = (n.y + rows - 1) / rows;
  const int parts = std::clamp(int(blocks / (across * deep)), 1, n.z);
  const int planes = (n.z + parts - 1) / parts;
  const dim3 grid(across, deep, (n.z + planes - 1) / planes);
  const auto run = [&] {
    CHECK(inflight::launch_kernel(diffuse, {grid, threads, shared}, out, maps, n, planes));
  };
  const double seconds = seconds_of(run);
  const bool right = host_copy(out, solid.size()) == step(solid, n);
  const std::size_t bytes = solid.size() * sizeof(float);
  if (measures(argc, argv)) measure_beside_copy("heat in a solid", out, in, bytes, run);
  return report("heat in a solid, tensor copies with halos", 2.0 * bytes, seconds, right) ? 0 : 1;
}
