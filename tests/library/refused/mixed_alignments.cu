// error: Both counts promise the same alignment, or neither does
// Two layouts that promise different things.
#include <inflight/groups.cuh>
#include <inflight/memcpy_async.cuh>
__global__ void kernel(const int* in) {
  __shared__ int shared[32];
  inflight::memcpy_async(inflight::this_thread_block(), shared, inflight::aligned_size_t<16>(32),
                         in, 32);
}
