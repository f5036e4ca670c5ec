// error: A copy needs as many coordinates as the map's tensor has dimensions
// One coordinate for a tensor of two dimensions.
#include <inflight/tensor_copy.cuh>
using tile = inflight::swizzled_tile<float, 8, 32>;
__global__ void kernel(const __grid_constant__ inflight::tile_map<tile> map) {
  __shared__ tile box;
  __shared__ inflight::barrier<> ready;
  inflight::transaction copies(ready);
  inflight::copy_async(box, map, {0}, copies);
}
