// A consumer's end has no commit.
// error: has no member "commit"
#include <inflight/cluster_pipeline.cuh>

__global__ void kernel() {
  __shared__ inflight::cluster_pipeline_state<2, 1024> state;
  inflight::cluster_consumer use(state, 0b11);
  use.commit();
}
