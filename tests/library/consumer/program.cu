// All of the library, from where the package says it is, in two translation units' worth of names.
#include <inflight/inflight.cuh>

__global__ void kernel(int* out) {
  auto block = inflight::this_thread_block();
  auto pipe = inflight::make_pipeline();
  pipe.producer_commit();
  pipe.consumer_wait();
  out[block.thread_rank()] = int(block.size());
}
