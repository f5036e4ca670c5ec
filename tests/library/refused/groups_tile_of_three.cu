// error: a tile has 1, 2, 4, 8, 16, 32, 64, 128, 256 or 512 threads
#include <inflight/groups.cuh>

namespace cg = inflight;

__global__ void kernel() { cg::tiled_partition<3>(cg::this_thread_block()).sync(); }
