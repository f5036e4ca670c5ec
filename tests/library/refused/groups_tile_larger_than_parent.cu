// error: cannot be larger than the tile it is cut from
#include <inflight/groups.cuh>

namespace cg = inflight;

__global__ void kernel() {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  cg::tiled_partition<16>(tile).sync();
}
