// One thread initialises an mbarrier and others use it without a barrier, or it is overwritten.
#include "tests/kernels/check/ptx_macros.cuh"

// Lanes of one warp, so that the initialisation happens to come first.
template <bool right>
__global__ void arrives(int* out) {
  __shared__ alignas(8) std::uint64_t bar;
  if (threadIdx.x == 0) MBARRIER_INIT(&bar, 32);  // [init]
  if (right) __syncthreads();
  MBARRIER_ARRIVE(&bar);   // [arrive]
  MBARRIER_WAIT(&bar, 0);  // [wait]
  out[threadIdx.x] = 1;
}

// The storage of a live mbarrier is reused for other data.
template <bool right>
__global__ void reuses(int* out) {
  __shared__ alignas(8) std::uint64_t bar;
  if (threadIdx.x == 0) MBARRIER_INIT(&bar, 64);  // [reused init]
  __syncthreads();
  MBARRIER_ARRIVE(&bar);
  MBARRIER_WAIT(&bar, 0);
  __syncthreads();
  if (threadIdx.x == 0) {
    if (right) MBARRIER_INVAL(&bar);
    *(volatile int*)&bar = 5;  // [reuse]
    out[0] = *(volatile int*)&bar;
  }
}

// As in the CUDA tutorial: every thread clears the mbarrier while one initialises it.
template <bool right>
__global__ void cleared(int* out) {
  __shared__ alignas(8) std::uint64_t bar;
  if (!right || threadIdx.x == 0) *(volatile std::uint64_t*)&bar = 0;  // [clear]
  if (threadIdx.x == 0) MBARRIER_INIT(&bar, 32);                      // [cleared init]
  __syncthreads();
  MBARRIER_ARRIVE(&bar);
  out[threadIdx.x] = 1;
}

template <auto kernel, int n = 64>
void run() {
  Buffer<int> out(64);
  kernel<<<1, n>>>(out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", run<arrives<false>, 32>},
                   {"twin", run<arrives<true>, 32>},
                   {"reused", run<reuses<false>>},
                   {"reused_twin", run<reuses<true>>},
                   {"cleared", run<cleared<false>, 32>},
                   {"cleared_twin", run<cleared<true>, 32>}});
}
