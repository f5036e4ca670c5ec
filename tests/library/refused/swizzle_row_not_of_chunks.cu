// A row of 12 bytes.
// error: A row of a tile must be a multiple of 16 bytes
#include <inflight/swizzle.cuh>

__global__ void kernel() {
  __shared__ inflight::swizzled_tile<float, 8, 3> tile;
  tile(0, 0) = 1;
}
