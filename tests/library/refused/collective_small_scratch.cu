// error: the value is larger than those that the block_scratch was made for
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>
__global__ void kernel(double* out) {
  __shared__ inflight::block_scratch<float, 128> scratch;
  auto team = inflight::with_scratch(inflight::this_thread_block(), scratch);
  out[threadIdx.x] = inflight::reduce(team, out[threadIdx.x], inflight::plus<double>());
}
