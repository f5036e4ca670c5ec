// error: a cluster_group needs a cluster_scratch
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>
__global__ void kernel(int* out) {
  __shared__ inflight::block_scratch<int, 128> scratch;
  auto team = inflight::with_scratch(inflight::this_cluster(), scratch);
  *out = inflight::reduce(team, 1, inflight::plus<int>());
}
