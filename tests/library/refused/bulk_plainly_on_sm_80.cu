// arch: sm_80
// The same error in a program's normal use, without template arguments.
// error: Bulk copies need sm_90 or later: compile with -arch=sm_90a. On sm_80 copy with
#include <inflight/copy.cuh>

__global__ void kernel(float* out) {
  alignas(16) __shared__ float x[32];
  __shared__ inflight::barrier<> ready;
  inflight::bulk_load(x, out, 128, ready);
}
