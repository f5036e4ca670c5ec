// A tensor of four dimensions has W and H only, so two offsets.
// error: im2col takes an offset for each of W, H, D
#include <inflight/tensor_copy.cuh>

__global__ void kernel(const __grid_constant__ inflight::tensor_map map) {
  __shared__ inflight::swizzled_tile<float, 8, 8> tile;
  __shared__ inflight::barrier<> ready;
  inflight::copy_im2col_async(tile, map, {0, 0, 0, 0}, {1}, ready);
}
