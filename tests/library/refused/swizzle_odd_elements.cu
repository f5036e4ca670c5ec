// Elements of three bytes would cross chunk boundaries.
// error: A tile's elements must fit a 16-byte chunk
#include <inflight/swizzle.cuh>

struct Pixel {
  unsigned char red, green, blue;
};
__global__ void kernel() {
  __shared__ inflight::swizzled_tile<Pixel, 8, 16, inflight::swizzle::b64> tile;
  tile(0, 0) = Pixel{};
}
