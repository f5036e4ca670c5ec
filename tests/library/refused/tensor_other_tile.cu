// A map of one tile type and a copy to another: it would copy more bytes than the tile holds.
// error: The map was made for a different tile
#include <inflight/tensor_copy.cuh>

using large = inflight::swizzled_tile<float, 64, 32, inflight::swizzle::b128>;
using small = inflight::swizzled_tile<float, 32, 32, inflight::swizzle::b128>;

__global__ void kernel(const __grid_constant__ inflight::tile_map<large> map) {
  __shared__ small tile;
  __shared__ inflight::barrier<> ready;
  inflight::copy_async(tile, map, {0, 0}, ready);
}
