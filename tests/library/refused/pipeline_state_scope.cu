// error: is for thread_scope_block; a pipeline of one thread needs none
// Shared state for one thread.
#include <inflight/pipeline.cuh>
__global__ void kernel() {
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_thread, 2> state;
  state.full[0] = 0;
}
