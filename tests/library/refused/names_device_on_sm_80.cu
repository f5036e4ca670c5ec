// arch: sm_80
// A barrier that counts bytes, on a chip whose barriers count only arrivals.
// error: inflight::device needs sm_90 or later
#include <inflight/device.cuh>

__global__ void kernel() {
  __shared__ inflight::barrier<> bar;
  if (threadIdx.x == 0) inflight::device::barrier_expect_tx(bar, 16);
}
