// error: need no scratch: pass the group to reduce itself
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>
__global__ void kernel(int* out) {
  __shared__ inflight::block_scratch<int, 128> scratch;
  auto tile = inflight::tiled_partition<32>(inflight::this_thread_block());
  *out = inflight::reduce(inflight::with_scratch(tile, scratch), 1, inflight::plus<int>());
}
