// error: cp.async moves 4, 8 or 16 bytes
// A size that cp.async does not support.
#include <inflight/copy.cuh>
__global__ void kernel(const char* in) {
  __shared__ char shared[32];
  inflight::cp_async<12, inflight::cache_operator::all>(shared, in);
}
