// What a thread has read by a strong load, or by its own atomic, comes before what it does next,
// without any fence. What the writer did before does not.
#include <cuda/atomic>

#include "tests/kernels/check/check_test.cuh"

constexpr int blocks = 8;

// Each thread counts itself. The last one sets the counter back.
template <bool right>
__global__ void count(unsigned* counter, unsigned last) {
  const unsigned before = atomicAdd(counter, 1);              // [count]
  if (before == (right ? last - 1 : last / 2)) *counter = 0;  // [set back]
}

__device__ void wait_for(const int* flag) {
  while (*(const volatile int*)flag == 0) {
  }
}

enum class Signal { store, exchange };
template <Signal how>
__device__ void signal(int* flag) {
  if (how == Signal::store) *(volatile int*)flag = 7;
  else atomicExch(flag, 7);  // [signal]
}

// One thread waits and sets the flag back.
template <Signal how>
__global__ void set_back(int* flag) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    signal<how>(flag);
  } else {
    wait_for(flag);
    *flag = 0;
  }
}

// One thread waits, and after a barrier its block reads the flag.
template <Signal how, bool right>
__global__ void read_by_all(int* flag, int* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) signal<how>(flag);
  } else {
    if (threadIdx.x == 0) wait_for(flag);
    if (right) __syncthreads();
    out[threadIdx.x] = *flag;  // [read]
  }
}

__global__ void two_flags(int* one, int* other) {
  if (blockIdx.x == 0) {
    signal<Signal::store>(one);
    signal<Signal::store>(other);
  } else {
    wait_for(one);
    wait_for(other);
    *one = 0;
    *other = 0;
  }
}

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;
using NearFlag = cuda::atomic_ref<int, cuda::thread_scope_block>;

// The second read is too narrow for the writer, but the first one has observed the write.
__global__ void narrower(int* flag) {
  if (blockIdx.x == 0) {
    Flag(*flag).store(3, cuda::memory_order_relaxed);
  } else {
    while (Flag(*flag).load(cuda::memory_order_relaxed) == 0) {
    }
    if (NearFlag(*flag).load(cuda::memory_order_relaxed) == 3) *flag = 0;
  }
}

// A third block learns from the second that the first has written.
template <bool right>
__global__ void third(int* data, int* flag, int* out) {
  constexpr auto release = right ? cuda::memory_order_release : cuda::memory_order_relaxed;
  if (blockIdx.x == 0) Flag(*data).store(3, cuda::memory_order_relaxed);  // [first]
  if (blockIdx.x == 1) {
    while (Flag(*data).load(cuda::memory_order_relaxed) == 0) {
    }
    Flag(*flag).store(1, release);
  }
  if (blockIdx.x == 2) {
    while (Flag(*flag).load(cuda::memory_order_acquire) == 0) {
    }
    out[0] = *data;  // [third]
  }
}

// The flag is observed, but not what its block wrote before.
__global__ void data_behind(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 5;  // [data]
    signal<Signal::store>(flag);
  } else {
    wait_for(flag);
    out[0] = *data;  // [read data]
  }
}

template <bool right>
void run_count(int threads) {
  Buffer<unsigned> counter(1);
  CHECK(cudaMemset(counter, 0, 4));
  for (int round = 0; round < 2; ++round)
    count<right><<<blocks, threads>>>(counter, blocks * threads);
}

struct Memory : Buffer<int> {
  Memory() : Buffer<int>(256) { CHECK(cudaMemset(*this, 0, 256 * sizeof(int))); }
};

template <class... Parameters, class... Arguments>
void run(void (*kernel)(Parameters...), int grid, int threads, Arguments... offsets) {
  Memory memory;
  int* const begin = memory;
  kernel<<<grid, threads>>>(begin + offsets...);
  CHECK(cudaDeviceSynchronize());
}

int main(int argc, char** argv) {
  return run_case(
      argc, argv,
      {{"last_block", [] { run_count<true>(1); }},
       {"last_thread", [] { run_count<true>(48); }},
       {"not_the_last", [] { run_count<false>(1); }},
       {"stored", [] { run(set_back<Signal::store>, 2, 64, 0); }},
       {"exchanged", [] { run(set_back<Signal::exchange>, 2, 64, 0); }},
       {"stored_for_all", [] { run(read_by_all<Signal::store, true>, 2, 64, 0, 64); }},
       {"exchanged_for_all", [] { run(read_by_all<Signal::exchange, true>, 2, 64, 0, 64); }},
       {"no_barrier", [] { run(read_by_all<Signal::exchange, false>, 2, 64, 0, 64); }},
       {"two_flags", [] { run(two_flags, 2, 1, 0, 64); }},
       {"narrower", [] { run(narrower, 2, 1, 0); }},
       {"third", [] { run(third<true>, 3, 1, 0, 64, 128); }},
       {"third_relaxed", [] { run(third<false>, 3, 1, 0, 64, 128); }},
       {"data_behind", [] { run(data_behind, 2, 1, 0, 64, 128); }}});
}
