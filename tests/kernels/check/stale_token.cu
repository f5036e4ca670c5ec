// arch: sm_90a
// A wait uses the token of an earlier phase.
#include "tests/kernels/check/waiting_test.cuh"

// Each round waits with the token of the first round.
template <bool fresh>
__global__ void kept(int rounds) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  publish_init();
  std::uint64_t token = arrive(&bar);
  wait_token(&bar, token);
  for (int i = 1; i < rounds; ++i) {
    const std::uint64_t next = arrive(&bar);  // [arrive]
    if (fresh) token = next;
    wait_token(&bar, token);  // [wait]
  }
}

// Two phases later, the token waits for a phase in which no thread arrives.
template <bool fresh>
__global__ void old() {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  publish_init();
  std::uint64_t token = arrive(&bar);
  __syncthreads();
  if (fresh) wait_token(&bar, token);
  arrive(&bar);
  __syncthreads();
  if (!fresh) wait_token(&bar, token);  // [wait old]
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { kept<false><<<1, 64>>>(3); }},
                   {"twin", [] { kept<true><<<1, 64>>>(3); }},
                   {"two_behind", [] { old<false><<<1, 64>>>(); }},
                   {"in_time", [] { old<true><<<1, 64>>>(); }}});
}
