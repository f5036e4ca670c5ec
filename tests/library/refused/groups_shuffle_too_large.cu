// error: at most 32 bytes
#include <inflight/groups.cuh>

namespace cg = inflight;

struct Large {
  double values[5];
};
__global__ void kernel(Large* p) {
  *p = cg::tiled_partition<32>(cg::this_thread_block()).shfl(*p, 0);
}
