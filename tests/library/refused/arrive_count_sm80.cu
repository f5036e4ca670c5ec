// arch: sm_80
// error: arrive\(count\) needs sm_90; on sm_80 call arrive\(\) for each
// Several arrivals at once, on a chip without them.
#include <inflight/barrier.cuh>
__global__ void kernel() {
  __shared__ inflight::barrier<> bar;
  bar.arrive(2);
}
