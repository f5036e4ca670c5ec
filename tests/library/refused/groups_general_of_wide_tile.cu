// error: holds tiles of at most 32 threads
#include <inflight/groups.cuh>

namespace cg = inflight;

__global__ void kernel() {
  __shared__ cg::block_tile_memory<> memory;
  cg::thread_group group = cg::tiled_partition<64>(cg::this_thread_block(memory));
  group.sync();
}
