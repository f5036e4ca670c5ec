// error: A pipeline of transaction_bytes is filled by bulk copies, which one thread issues
// A group's copy into a stage that waits for bytes.
#include <inflight/groups.cuh>
#include <inflight/pipeline.cuh>
__global__ void kernel(const float* from) {
  __shared__ alignas(16) float to[64];
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, 2> state;
  auto block = inflight::this_thread_block();
  auto pipe = inflight::make_pipeline<inflight::transaction_bytes>(block, &state);
  inflight::memcpy_async(block, to, from, sizeof to, pipe);
}
