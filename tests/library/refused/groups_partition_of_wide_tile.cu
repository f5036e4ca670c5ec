// error: labeled_partition needs a group within one warp
#include <inflight/groups.cuh>

namespace cg = inflight;

__global__ void kernel() {
  __shared__ cg::block_tile_memory<> memory;
  auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  cg::labeled_partition(tile, 1).sync();
}
