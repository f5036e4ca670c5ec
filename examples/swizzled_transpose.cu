// A matrix transposition through swizzled tiles. A tensor copy loads a tile, warps transpose it
// without bank conflicts, and another tensor copy stores it. No thread accesses global memory.
#include <algorithm>
#include <inflight/copy.cuh>
#include <inflight/tensor_copy.cuh>

#include "examples/example.cuh"

namespace {

constexpr int side = 32, threads = 128;
using tile = inflight::swizzled_tile<float, side, side, inflight::swizzle::b128>;

// In each step a warp moves 8 rows of 4 columns. The swizzle places a column's eight rows in eight
// different chunks, and the four columns use the four words of a chunk: 32 banks. Odd words take
// their column from the adjacent chunk, so that the rows they are written to are in different
// chunks too.
__host__ __device__ constexpr int row_of(int lane) { return lane % 8; }
__host__ __device__ constexpr int column_of(int lane, int k) {
  const int word = lane / 8;
  return 4 * (k ^ (word & 1)) + word;
}

__global__ void __launch_bounds__(threads)
    transpose(const __grid_constant__ inflight::tile_map<tile> in,
              const __grid_constant__ inflight::tile_map<tile> out) {
  __shared__ tile from, to;
  __shared__ inflight::barrier<> ready;
  const int x = blockIdx.x * side, y = blockIdx.y * side;
  if (threadIdx.x == 0) {
    ready.init(1);
    inflight::transaction copies(ready);
    inflight::copy_async(from, in, {x, y}, copies);
    copies.arrive();
  }
  __syncthreads();
  ready.wait_parity(0);
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 8 + row_of(lane);
  for (int k = 0; k < side / 4; ++k) to(column_of(lane, k), row) = from(row, column_of(lane, k));
  inflight::release_to_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  inflight::store_async(out, {y, x}, to);
  inflight::bulk_commit();
  inflight::bulk_wait_read();
}

// The largest number of lanes that access one bank while a tile is read or written.
template <class Tile>
int conflicts() {
  int most = 0;
  for (int first = 0; first < side; first += 8)
    for (int k = 0; k < side / 4; ++k) {
      int reads[32] = {}, writes[32] = {};
      for (int lane = 0; lane < 32; ++lane) {
        const int row = first + row_of(lane), column = column_of(lane, k);
        most = std::max(most, ++reads[Tile::offset(row, column) / 4 % 32]);
        most = std::max(most, ++writes[Tile::offset(column, row) / 4 % 32]);
      }
    }
  return most;
}

}  // namespace

int main() {
  const int width = 2048, height = 1024;
  std::vector<float> values(width * height);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i * 2654435761u >> 8);
  float *in = device_copy(values), *out = device_copy(std::vector<float>(values.size()));
  const auto source = inflight::make_tensor_map<tile>(in, {width, height}).value();
  const auto sink = inflight::make_tensor_map<tile>(out, {height, width}).value();

  const double seconds =
      seconds_of([&] { transpose<<<dim3(width / side, height / side), threads>>>(source, sink); });
  const std::vector<float> result = host_copy(out, values.size());
  bool right = true;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) right &= result[x * height + y] == values[y * width + x];
  right =
      report("transpose, 32 x 32 tiles, swizzle of 128 bytes", 8.0 * values.size(), seconds, right);
  const int swizzled = conflicts<tile>(),
            plain = conflicts<inflight::swizzled_tile<float, side, side>>();
  std::printf("  lanes that meet in a bank: %d; in a plain tile: %d\n", swizzled, plain);
  return right && swizzled == 1 ? 0 : 1;
}
