// error: The last argument of a copy is an L2 policy
// A number of valid bytes where a policy belongs: that is cp_async_zero_fill's.
#include <inflight/copy.cuh>
__global__ void kernel(const int* in) {
  alignas(16) __shared__ int tile[4];
  inflight::cp_async<16>(tile, in, 8);
}
