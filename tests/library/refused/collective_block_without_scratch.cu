// error: need shared memory: pass with_scratch
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>
__global__ void kernel(int* out) {
  *out = inflight::reduce(inflight::this_thread_block(), 1, inflight::plus<int>());
}
