// arch: sm_80
// error: A pipeline of transaction_bytes needs sm_90; on sm_80 use mbarrier_arrivals
// A pipeline filled by bulk copies, on a chip without them.
#include <inflight/groups.cuh>
#include <inflight/pipeline.cuh>
__global__ void kernel() {
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, 2> state;
  auto pipe =
      inflight::make_pipeline<inflight::transaction_bytes>(inflight::this_thread_block(), &state);
  pipe.producer_acquire();
}
