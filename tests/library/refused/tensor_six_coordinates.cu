// A copy with six coordinates.
// error: A tensor has at most five dimensions.
#include <inflight/tensor_copy.cuh>

__global__ void kernel(const __grid_constant__ inflight::tensor_map map) {
  __shared__ inflight::swizzled_tile<float, 8, 8> tile;
  __shared__ inflight::barrier<> ready;
  inflight::copy_async(tile, map, {0, 0, 0, 0, 0, 0}, ready);
}
