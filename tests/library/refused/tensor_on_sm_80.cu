// arch: sm_80
// An A100 has no tensor copies.
// error: Tensor copies need sm_90 or later
#include <inflight/tensor_copy.cuh>

__global__ void kernel(const __grid_constant__ inflight::tensor_map map) {
  alignas(128) __shared__ float box[256];
  __shared__ inflight::barrier<> ready;
  inflight::copy_async(box, map, {0, 0}, ready);
}
