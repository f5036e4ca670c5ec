// error: A tensor copy completes on a barrier<>, its std::uint64_t\*, a transaction, or a stage of
// A tensor copy into a pipeline that waits for threads.
#include <inflight/groups.cuh>
#include <inflight/pipeline.cuh>
#include <inflight/tensor_copy.cuh>
using tile = inflight::swizzled_tile<float, 8, 32>;
__global__ void kernel(const __grid_constant__ inflight::tile_map<tile> map) {
  __shared__ tile box;
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, 2> state;
  auto pipe = inflight::make_pipeline(inflight::this_thread_block(), &state);
  inflight::copy_async(box, map, {0, 0}, pipe);
}
