// Two indices for a box of three dimensions.
// error: A box takes an index for each of its dimensions
#include <inflight/tensor_copy.cuh>

__global__ void kernel() {
  __shared__ inflight::swizzled_box<float, inflight::swizzle::b128, 32, 4, 2> box;
  box(1, 2) = 3;
}
