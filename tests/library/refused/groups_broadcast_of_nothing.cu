// error: broadcasts a result; use invoke_one
#include <inflight/groups.cuh>

namespace cg = inflight;

__global__ void kernel() {
  cg::invoke_one_broadcast(cg::tiled_partition<32>(cg::this_thread_block()), [] {});
}
