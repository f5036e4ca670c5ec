// A stencil over a plate. Tensor copies load each tile with the rows and columns around it, and
// zeros outside the plate, so the kernel needs no code for edges. While a block computes one tile,
// the next one is loaded and the last one is stored.
#include <inflight/copy.cuh>
#include <inflight/tensor_copy.cuh>

#include "examples/example.cuh"

namespace {

constexpr int columns = 32, rows = 32, threads = 256;
// A box begins at a multiple of 16 bytes, so the halo has four columns on either side; one is used.
constexpr int halo = 4;
using input = inflight::swizzled_tile<float, rows + 2, columns + 2 * halo>;
using output = inflight::swizzled_tile<float, rows, columns>;

// Every element becomes the mean of its four neighbours. gridDim.y blocks take the tiles of a
// column in turn.
__global__ void __launch_bounds__(threads)
    diffuse(const __grid_constant__ inflight::tile_map<input> from,
            const __grid_constant__ inflight::tile_map<output> to, int tiles) {
  __shared__ input in[2];
  __shared__ output out[2];
  __shared__ inflight::barrier<> ready[2];
  const bool leader = threadIdx.x == 0;
  const int x = blockIdx.x * columns;
  auto fetch = [&](int tile, int turn) {
    inflight::transaction copies(ready[turn % 2]);
    inflight::copy_async(in[turn % 2], from, {x - halo, tile * rows - 1}, copies);
    copies.arrive();
  };
  if (leader) {
    ready[0].init(1);
    ready[1].init(1);
    fetch(blockIdx.y, 0);
  }
  __syncthreads();
  for (int tile = blockIdx.y, turn = 0; tile < tiles; tile += gridDim.y, ++turn) {
    if (leader) {
      if (tile + gridDim.y < tiles) fetch(tile + gridDim.y, turn + 1);
      inflight::bulk_wait_read<1>();  // out[turn % 2] is free: its store of two turns ago read it
    }
    __syncthreads();
    ready[turn % 2].wait_parity(turn / 2 % 2);
    const input& a = in[turn % 2];
    output& b = out[turn % 2];
    for (int i = threadIdx.x; i < rows * columns; i += threads) {
      const int row = i / columns, column = i % columns, r = row + 1, c = column + halo;
      b(row, column) = 0.25f * ((a(r, c - 1) + a(r, c + 1)) + (a(r - 1, c) + a(r + 1, c)));
    }
    inflight::release_to_async();
    __syncthreads();
    if (leader) {
      inflight::store_async(to, {x, tile * rows}, b);  // elements past the end are left out
      inflight::bulk_commit();
    }
  }
  if (leader) inflight::bulk_wait_read();
}

std::vector<float> step(const std::vector<float>& plate, int width, int height) {
  std::vector<float> next(plate.size());
  auto at = [&](int x, int y) {
    return x < 0 || y < 0 || x >= width || y >= height ? 0.0f : plate[y * width + x];
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      next[y * width + x] = 0.25f * ((at(x - 1, y) + at(x + 1, y)) + (at(x, y - 1) + at(x, y + 1)));
  return next;
}

}  // namespace

int main() {
  const int width = 1000, height = 700, steps = 4;
  std::vector<float> plate(width * height);
  for (std::size_t i = 0; i < plate.size(); ++i) plate[i] = float(i * 2654435761u >> 16);
  float *a = device_copy(plate), *b = device_copy(plate);
  const auto in_a = inflight::make_tensor_map<input>(a, {width, height}).value(),
             in_b = inflight::make_tensor_map<input>(b, {width, height}).value();
  const auto out_a = inflight::make_tensor_map<output>(a, {width, height}).value(),
             out_b = inflight::make_tensor_map<output>(b, {width, height}).value();

  const int across = (width + columns - 1) / columns, down = (height + rows - 1) / rows;
  const double seconds = seconds_of([&] {
    for (int i = 0; i < steps; i += 2) {
      diffuse<<<dim3(across, 4), threads>>>(in_a, out_b, down);
      diffuse<<<dim3(across, 4), threads>>>(in_b, out_a, down);
    }
  });
  for (int i = 0; i < steps; ++i) plate = step(plate, width, height);
  const bool right = host_copy(a, plate.size()) == plate;
  return report("stencil with halos, 32 x 32 tiles, 4 steps", 8.0 * steps * plate.size(), seconds,
                right)
             ? 0
             : 1;
}
