// error: values of at most 8 bytes
#include <inflight/groups.cuh>

namespace cg = inflight;

__global__ void kernel(int4* p) {
  p->x = cg::tiled_partition<32>(cg::this_thread_block()).match_any(*p);
}
