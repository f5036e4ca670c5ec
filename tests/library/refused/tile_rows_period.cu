// A part of a tile that ends within the swizzle's pattern.
// error: A part's bytes are a multiple of the swizzle's period
#include <inflight/swizzle.cuh>

__global__ void kernel() {
  __shared__ inflight::swizzled_tile<float, 32, 32, inflight::swizzle::b128> tile;
  inflight::tile_rows<4>(tile, 4)(0, 0) = 1;
}
