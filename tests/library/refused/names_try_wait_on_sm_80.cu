// arch: sm_80
// A wait with a time limit on a barrier, on a chip that has only the test.
// error: __mbarrier_try_wait needs sm_90; on sm_80 call __mbarrier_test_wait
#include <inflight/cuda_pipeline.h>

__global__ void kernel() {
  __shared__ __mbarrier_t bar;
  __mbarrier_init(&bar, 1);
  while (!__mbarrier_try_wait(&bar, __mbarrier_arrive(&bar), 100)) {
  }
}
