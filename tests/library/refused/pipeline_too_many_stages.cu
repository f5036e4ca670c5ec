// error: A pipeline has 1 to 255 stages
// More stages than a pipeline can have.
#include <inflight/groups.cuh>
#include <inflight/pipeline.cuh>
__global__ void kernel() {
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, 256> state;
  auto pipe = inflight::make_pipeline(inflight::this_thread_block(), &state);
  pipe.producer_acquire();
}
