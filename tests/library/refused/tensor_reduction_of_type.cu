// Tensor copies have add for floats, but no min.
// error: The tile's element type lacks this reduction
#include <inflight/tensor_copy.cuh>

using tile = inflight::swizzled_tile<float, 8, 32>;

__global__ void kernel(const __grid_constant__ inflight::tile_map<tile> map) {
  __shared__ tile box;
  inflight::reduce_async<inflight::reduction_op::min>(map, {0, 0}, box);
}
