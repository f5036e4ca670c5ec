// arch: sm_80
// Bytes that a barrier counts, on a chip whose barriers count arrivals alone.
// error: inflight::device needs sm_90 or later
#include <inflight/device.cuh>

__global__ void kernel() {
  __shared__ inflight::barrier<> bar;
  if (threadIdx.x == 0) inflight::device::barrier_expect_tx(bar, 16);
}
