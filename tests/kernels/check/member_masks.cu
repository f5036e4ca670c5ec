// Collectives whose member mask names lanes that never come, or leaves out those that are there.
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

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"absent", [] { absent<<<1, 32>>>(Buffer<int>(1), true); }},
                   {"present", [] { absent<<<1, 32>>>(Buffer<int>(1), false); }},
                   {"left_out", [] { left_out<<<1, 32>>>(Buffer<int>(1), 0xff00); }},
                   {"named", [] { left_out<<<1, 32>>>(Buffer<int>(1), 0x00ff); }}});
}
