// error: A pipeline of one thread needs no shared state
// Shared state for one thread.
#include <inflight/pipeline.cuh>
__global__ void kernel() {
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_thread, 2> state;
  state.full[0] = 0;
}
