// error: cuts a thread_block or a thread_block_tile
#include <inflight/groups.cuh>

namespace cg = inflight;

__global__ void kernel() { cg::tiled_partition<32>(cg::this_grid()).sync(); }
