// error: A barrier lies in a block.s shared memory: its scope is thread_scope_block
// A barrier for the whole device.
#include <inflight/barrier.cuh>
__global__ void kernel() {
  __shared__ inflight::barrier<inflight::thread_scope_device> bar;
  bar.init(1);
}
