// error: cache_operator::global moves 16 bytes; use cache_operator::all for 4 or 8
// .cg with 8 bytes.
#include <inflight/copy.cuh>
__global__ void kernel(const char* in) {
  alignas(8) __shared__ char shared[8];
  inflight::cp_async<8, inflight::cache_operator::global>(shared, in);
}
