// arch: sm_90a
// Threads poll memory that no thread will change.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/kernels/check/waiting_test.cuh"

// The flag is set after a barrier at which its reader never arrives.
__global__ void flag_in_shared(bool before) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (before && threadIdx.x == 32) flag = 1;
  if (threadIdx.x < 32)
    while (flag == 0) {  // [read flag]
    }
  // [meet]
  __syncthreads();
  if (threadIdx.x == 32) flag = 1;
}

// The same with a sleep between two polls.
__global__ void flag_asked_seldom(bool before) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (before && threadIdx.x == 32) flag = 1;
  if (threadIdx.x < 32)
    while (flag == 0) __nanosleep(100);  // [read seldom]
  // [meet behind]
  __syncthreads();
  if (threadIdx.x == 32) flag = 1;
}

// The same with a look at the clock, which ends nothing.
__global__ void flag_and_clock(bool before, long long* out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (before && threadIdx.x == 32) flag = 1;
  long long times = 0;
  if (threadIdx.x < 32)
    while (flag == 0) times += clock64();  // [read with clock]
  // [meet after the clock]
  __syncthreads();
  if (threadIdx.x == 32) flag = 1;
  out[threadIdx.x] = times;
}
void run_with_clock(bool before) {
  Buffer<long long> out(64);
  flag_and_clock<<<1, 64>>>(before, out);
}

__global__ void tested(bool arrives) {
  __shared__ Word bar;
  if (threadIdx.x == 0) init(&bar, 2);
  publish_init();
  if (threadIdx.x < (arrives ? 2 : 1)) arrive(&bar);
  while (!test_parity(&bar, 0)) {  // [test]
  }
}

// The same with a plain flag, which the compiler reads once, before the loop.
__global__ void flag_read_once() {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32)
    while (flag == 0) {  // [read once]
    }
  // [meet behind the loop]
  __syncthreads();
  if (threadIdx.x == 32) flag = 1;
}

// Nothing leads out of the loops, though they access memory.
enum class Loop { counts, meets, ends };
template <Loop loop>
__global__ void endless(int* counts) {
  while (true) {
    const int before = atomicAdd(counts, 1);  // [counts for ever]
    if (loop == Loop::ends && before > 5000) break;
    if (loop == Loop::meets) __syncthreads();
  }
}
template <Loop loop>
void run_endless() {
  Buffer<int> counts(1);
  endless<loop><<<2, 64>>>(counts);
  cudaDeviceSynchronize();
}

// One warp repeats its loop, and the others end.
__global__ void one_warp_endless(int* counts) {
  if (threadIdx.x >= 32) return;
  for (;;) atomicAdd(&counts[threadIdx.x], 1);  // [one warp]
}

// One block waits for the other, which waits for the host. This may take any time.
__global__ void told_late(int* told, const volatile int* by_host) {
  if (blockIdx.x == 0) {
    while (atomicAdd(told, 0) == 0) {
    }
  } else {
    while (*by_host == 0) {
    }
    atomicExch(told, 1);
  }
}

void tell_late() {
  Buffer<int> told(1);
  CHECK(cudaMemset(told, 0, sizeof(int)));
  int* by_host;
  CHECK(cudaHostAlloc(&by_host, sizeof(int), cudaHostAllocMapped));
  *by_host = 0;
  told_late<<<2, 1>>>(told, by_host);
  std::this_thread::sleep_for(std::chrono::seconds(6));
  *const_cast<volatile int*>(by_host) = 1;
  cudaDeviceSynchronize();
  if (told.read()[0] != 1) std::abort();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"mistake", [] { flag_in_shared<<<1, 64>>>(false); }},
                   {"twin", [] { flag_in_shared<<<1, 64>>>(true); }},
                   {"seldom", [] { flag_asked_seldom<<<1, 64>>>(false); }},
                   {"seldom_twin", [] { flag_asked_seldom<<<1, 64>>>(true); }},
                   {"clock", [] { run_with_clock(false); }},
                   {"clock_twin", [] { run_with_clock(true); }},
                   {"tested", [] { tested<<<1, 32>>>(false); }},
                   {"arrived", [] { tested<<<1, 32>>>(true); }},
                   {"read_once", [] { flag_read_once<<<1, 64>>>(); }},
                   {"counts", run_endless<Loop::counts>},
                   {"meets", run_endless<Loop::meets>},
                   {"ends", run_endless<Loop::ends>},
                   {"one_warp", [] { one_warp_endless<<<1, 96>>>(Buffer<int>(32)); }},
                   {"told_late", tell_late}});
}
