// error: A copy needs as many coordinates as the map's tensor has dimensions
// Two coordinates for a tensor of three dimensions.
#include <inflight/tensor_copy.cuh>
using tile = inflight::swizzled_tile<float, 8, 32>;
__global__ void kernel(const __grid_constant__ inflight::tile_map<tile, 3> map) {
  inflight::prefetch_async(map, {0, 0});
}
