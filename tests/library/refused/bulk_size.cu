// error: A bulk copy moves a multiple of 16 bytes
// A size that is not a multiple of 16.
#include <inflight/barrier.cuh>
__global__ void kernel(const char* in) {
  alignas(16) __shared__ char shared[32];
  __shared__ inflight::barrier<> full;
  inflight::transaction copies(full);
  copies.load<20>(shared, in);
}
