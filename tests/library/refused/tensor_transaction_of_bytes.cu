// A transaction cannot know how large a box in plain memory is.
// error: A transaction counts the bytes of a swizzled_tile
#include <inflight/tensor_copy.cuh>

__global__ void kernel(const __grid_constant__ inflight::tensor_map map) {
  alignas(128) __shared__ float box[256];
  __shared__ inflight::barrier<> ready;
  inflight::transaction copies(ready);
  inflight::copy_async(box, map, {0, 0}, copies);
  copies.arrive();
}
