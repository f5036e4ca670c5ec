// arch: sm_90a
// One-byte elements that are not integers, FP8 among them: a map of their type needs no options,
// and copies move the bytes unchanged.
#include <cuda_fp8.h>

#include "tests/library/tensors.cuh"

namespace {

struct Nibbles {
  unsigned char low : 4, high : 4;
};

template <class Tile>
__global__ void load(const __grid_constant__ inflight::tile_map<Tile> map, unsigned char* out) {
  __shared__ Tile tile;
  __shared__ inflight::barrier<> ready;
  if (threadIdx.x == 0) {
    ready.init(1);
    inflight::transaction copies(ready);
    inflight::copy_async(tile, map, {Tile::columns, 1}, copies);
    copies.arrive();
  }
  __syncthreads();
  ready.wait_parity(0);
  for (int i = threadIdx.x; i < Tile::rows * Tile::columns; i += blockDim.x) {
    const auto element = tile(i / Tile::columns, i % Tile::columns);
    memcpy(&out[i], &element, 1);
  }
}

template <class T>
void test(const char* what) {
  using Tile = inflight::swizzled_tile<T, 8, 128, inflight::swizzle::b128>;
  constexpr int width = 2 * Tile::columns, rows = 16;
  Buffer<unsigned char> from(numbered<unsigned char>(width * rows)),
      out(Tile::rows * Tile::columns);
  const auto* tensor = reinterpret_cast<const T*>(from.device);
  good(inflight::make_tensor_map(tensor, {width, rows}, {16, 8}));
  load<<<1, 64>>>(good(inflight::make_tensor_map<Tile>(tensor, {width, rows})), out.device);
  out.read();
  bool right = true;
  for (int row = 0; row < Tile::rows; ++row)
    for (int column = 0; column < Tile::columns; ++column)
      right = right && out.host[row * Tile::columns + column] ==
                           from.host[(1 + row) * width + Tile::columns + column];
  std::printf("%s: %s\n", what, right ? "right" : "WRONG");
}

}  // namespace

int main() {
  test<__nv_fp8_e4m3>("fp8 e4m3");
  test<__nv_fp8_e5m2>("fp8 e5m2");
  test<std::byte>("byte");
  test<Nibbles>("two nibbles");
}
