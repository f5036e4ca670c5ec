// error: The tile's element type lacks this reduction .pairs of numbers are copied as words
// A tensor reduction of pairs would add them as words.
#include <cuda_fp16.h>

#include <inflight/tensor_copy.cuh>
using tile = inflight::swizzled_tile<__half2, 8, 32>;
__global__ void kernel(const __grid_constant__ inflight::tile_map<tile> map) {
  __shared__ tile box;
  inflight::reduce_async<inflight::reduction_op::add>(map, {0, 0}, box);
}
