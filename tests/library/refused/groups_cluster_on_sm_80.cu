// arch: sm_80
// error: clusters need sm_90 or later
#include <inflight/groups.cuh>

namespace cg = inflight;

__global__ void kernel() { cg::this_cluster().sync(); }
