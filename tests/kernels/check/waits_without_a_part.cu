// arch: sm_90a
// All warps of a producer wait for an empty stage, and one of them fills it.
#include "tests/kernels/check/waiting_test.cuh"

enum class Who { all, filler };

// Warps 0 and 1 produce, warp 2 consumes.
template <Who waits>
__global__ void roles(const int* in, int rounds) {
  __shared__ alignas(16) int tile[2][256];
  __shared__ Word full[2], empty[2];
  if (threadIdx.x == 0)
    for (int s = 0; s < 2; ++s) {
      init(&full[s], 1);
      init(&empty[s], 1);
    }
  publish_init();
  if (threadIdx.x < 64) {
    for (int i = 0; i < rounds; ++i) {
      if (waits == Who::all || threadIdx.x == 0)
        wait_parity(&empty[i % 2], (i / 2 & 1) ^ 1);  // [wait]
      if (threadIdx.x == 0) {
        arrive_expect(&full[i % 2], 1024);
        bulk_load(tile[i % 2], in, 1024, &full[i % 2]);
      }
    }
  } else if (threadIdx.x == 64) {
    for (int i = 0; i < rounds; ++i) {
      wait_parity(&full[i % 2], i / 2 & 1);
      arrive(&empty[i % 2]);
    }
  }
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { roles<Who::all><<<1, 96>>>(Buffer<int>(1024), 8); }},
                   {"twin", [] { roles<Who::filler><<<1, 96>>>(Buffer<int>(1024), 8); }}});
}
