// A box has at most 256 elements in each dimension.
// error: at most 256 elements per dimension: use several tiles
#include <inflight/swizzle.cuh>

__global__ void kernel() {
  __shared__ inflight::swizzled_tile<float, 512, 8, inflight::swizzle::b32> tile;
  tile(0, 0) = 1;
}
