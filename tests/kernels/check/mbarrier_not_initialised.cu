// A thread arrives on eight bytes of shared memory that are not yet an mbarrier.
#include "tests/kernels/check/check_test.cuh"

__device__ void arrive(std::uint64_t* bar) {
  // [arrive]
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}

__global__ void mistake() {
  __shared__ std::uint64_t bar;
  if (threadIdx.x == 0) bar = 0;
  __syncthreads();
  arrive(&bar);
}

__global__ void twin() {
  __shared__ std::uint64_t bar;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(shared_address(&bar)) : "memory");
  __syncthreads();
  arrive(&bar);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { mistake<<<1, 64>>>(); }}, {"twin", [] { twin<<<1, 64>>>(); }}});
}
