// Collectives whose member mask names lanes that never arrive, or lacks lanes that take part.
#include "tests/kernels/check/check_test.cuh"

__global__ void absent(int* out, bool branch) {
  if (branch && threadIdx.x >= 16) {
    __syncthreads();  // [elsewhere]
    atomicAdd(out, 1);
  } else {
    __syncwarp();  // [all lanes]
    __syncthreads();
  }
}

__global__ void left_out(int* out, unsigned mask) {
  if (threadIdx.x < 8) *out = __ballot_sync(mask, 1);  // [ballot]
}

// One half of the warp skips the shuffle.
__global__ void gone_past(int* out, unsigned mask) {
  int value = out[threadIdx.x];
  if (threadIdx.x < 16) value += __shfl_down_sync(mask, value, 8);  // [shuffle]
  out[threadIdx.x] = value;
}
// One half returns early.
__global__ void returned(int* out) {
  if (threadIdx.x >= 16) return;
  out[threadIdx.x] += __shfl_down_sync(0xffffffff, out[threadIdx.x], 8, 16);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"gone_past", [] { gone_past<<<1, 32>>>(Buffer<int>(32), 0xffffffff); }},
                   {"gone_past_twin", [] { gone_past<<<1, 32>>>(Buffer<int>(32), 0xffff); }},
                   {"no_such_lanes", [] { gone_past<<<1, 16>>>(Buffer<int>(32), 0xffffffff); }},
                   {"returned", [] { returned<<<1, 32>>>(Buffer<int>(32)); }},
                   {"absent", [] { absent<<<1, 32>>>(Buffer<int>(1), true); }},
                   {"present", [] { absent<<<1, 32>>>(Buffer<int>(1), false); }},
                   {"left_out", [] { left_out<<<1, 32>>>(Buffer<int>(1), 0xff00); }},
                   {"named", [] { left_out<<<1, 32>>>(Buffer<int>(1), 0x00ff); }}});
}
