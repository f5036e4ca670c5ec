// A row of 256 bytes does not fit a swizzle of 128.
// error: A row of a tile must not be wider than its swizzle's span
#include <inflight/swizzle.cuh>

__global__ void kernel() {
  __shared__ inflight::swizzled_tile<float, 8, 64, inflight::swizzle::b128> tile;
  tile(0, 0) = 1;
}
