// One block signals data to another by a flag: with every step, and with one missing.
#include <cuda/atomic>

#include "tests/kernels/check/check_test.cuh"

enum class Way {
  release_acquire,
  fences,
  volatile_fences,
  ticket,
  relaxed_store,  // no release
  relaxed_load,   // no acquire
  block_scope,    // a scope that lacks the reader
  plain,          // an ordinary variable as a flag
};

__device__ int data[64];
__device__ int flag;

template <Way way>
__device__ void raise() {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(flag);
  if (way == Way::relaxed_store) return f.store(1, cuda::memory_order_relaxed);
  if (way == Way::block_scope) {
    asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(&flag) : "memory");  // [narrow store]
    return;
  }
  if (way == Way::fences) {
    __threadfence();
    atomicExch(&flag, 1);
    return;
  }
  if (way == Way::volatile_fences || way == Way::plain) {
    __threadfence();
    if (way == Way::plain) *(int*)&flag = 1;  // [plain store]
    else *(volatile int*)&flag = 1;
    return;
  }
  f.store(1, cuda::memory_order_release);
}

template <Way way>
__device__ void wait() {
  cuda::atomic_ref<int, cuda::thread_scope_device> f(flag);
  if (way == Way::fences) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    return __threadfence();
  }
  if (way == Way::volatile_fences || way == Way::plain) {
    while (*(volatile int*)&flag == 0) {  // [plain load]
    }
    return __threadfence();
  }
  if (way == Way::block_scope) {
    int seen;
    do {
      // [narrow load]
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(&flag) : "memory");
    } while (seen == 0);
    return;
  }
  while (f.load(way == Way::relaxed_load ? cuda::memory_order_relaxed
                                         : cuda::memory_order_acquire) == 0) {
  }
}

template <Way way>
__global__ void message(int* out) {
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = t;  // [write]
    __syncthreads();
    if (t == 0) raise<way>();
  } else {
    if (t == 0) wait<way>();
    __syncthreads();
    out[t] = data[t ^ 1];  // [read]
  }
}

// The last block to finish adds up all parts (CUDA Programming Guide, memory fences).
template <bool right>
__global__ void last_block(int* parts, unsigned* tickets, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x;  // [part]
    if (right) __threadfence();
    last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    int sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += parts[i];  // [sum]
    out[threadIdx.x] = sum;
    if (right && threadIdx.x == 0) *tickets = 0;  // reset for the next launch
  }
}

enum class Fence { behind_barrier, by_all, before_barrier, before_write };

// All threads of a block write, one sets the flag. A fence publishes what its thread wrote and had
// seen by then. That thread sees the others' writes only after the barrier.
template <Fence fence>
__global__ void raised_by_one(int* parts, int* raised, int* out) {
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    if (fence == Fence::before_write && t == 0) __threadfence();
    parts[t] = t;  // [all write]
    if (fence == Fence::by_all || (fence == Fence::before_barrier && t == 0)) __threadfence();
    __syncthreads();
    if (fence == Fence::behind_barrier && t == 0) __threadfence();
    if (t == 0) atomicExch(raised, 1);
  } else {
    if (t == 0) {
      while (atomicAdd(raised, 0) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    out[t] = parts[blockDim.x - 1 - t];  // [all read]
  }
}

// A fence before the unlock publishes the data that a lock protects. A fence after taking the lock
// is too early.
template <bool right>
__global__ void locked(int* lock, int* sum) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  sum[0] += 1;  // [protected]
  if (right) __threadfence();
  atomicExch(lock, 0);
}
template <bool right>
void run_locked() {
  Buffer<int> lock(1), sum(1);
  locked<right><<<8, 32>>>(lock, sum);
  if (sum.read()[0] != 8) std::printf("sum %d\n", sum.read()[0]);
}

// Blocks run in turn, and a thread of the last one resets the lock.
template <unsigned resets>
__global__ void take_turns(int* lock, int* sum) {
  const int turn = static_cast<int>(blockIdx.x), last = static_cast<int>(gridDim.x) - 1;
  if (threadIdx.x == 0) {
    int seen;
    do asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(seen) : "l"(lock) : "memory");
    while (seen != turn);
  }
  __syncthreads();
  sum[threadIdx.x] += turn;
  __syncthreads();
  if (threadIdx.x == resets && turn == last) *lock = 0;
  if (threadIdx.x == 0 && turn != last) {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(lock) : "memory");
  }
}
template <unsigned resets>
void run_turns() {
  Buffer<int> lock(1), sum(64);
  for (int i = 0; i < 2; ++i) take_turns<resets><<<4, 64>>>(lock, sum);
  for (const int each : sum.read())
    if (each != 12) std::printf("sum %d\n", each);
}

// A block resets a count, tells the other so and then takes a number from it. Nothing orders the
// other's number behind the reset, though it follows the first block's number.
template <bool right>
__global__ void reset_count(unsigned* count, volatile unsigned* reset, int* out) {
  if (blockIdx.x == 0) {
    *count = 0;  // [resets]
    if (right) __threadfence();
    *reset = 1;
    __threadfence();
    out[0] = static_cast<int>(atomicAdd(count, 1));
  } else {
    while (*reset == 0) {
    }
    __threadfence();
    out[1] = static_cast<int>(atomicAdd(count, 1));  // [takes]
  }
}
template <bool right>
void run_reset() {
  Buffer<unsigned> count(1), reset(1);
  Buffer<int> out(2);
  CHECK(cudaMemset(reset, 0, sizeof(unsigned)));
  reset_count<right><<<2, 1>>>(count, reset, out);
  out.read();
}

template <Way way>
void run() {
  Buffer<int> out(64);
  int zero = 0;
  CHECK(cudaMemcpyToSymbol(flag, &zero, sizeof zero));
  message<way><<<2, 64>>>(out);
  out.read();
}
template <bool right>
void run_last() {
  Buffer<int> parts(8), out(32);
  Buffer<unsigned> tickets(1);
  last_block<right><<<8, 32>>>(parts, tickets, out);
  out.read();
}
template <Fence fence>
void run_raised() {
  Buffer<int> parts(64), raised(1), out(64);
  raised_by_one<fence><<<2, 64>>>(parts, raised, out);
  out.read();
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"relaxed_store", run<Way::relaxed_store>},
                   {"relaxed_load", run<Way::relaxed_load>},
                   {"block_scope", run<Way::block_scope>},
                   {"plain", run<Way::plain>},
                   {"twin", run<Way::release_acquire>},
                   {"fences_twin", run<Way::fences>},
                   {"volatile_twin", run<Way::volatile_fences>},
                   {"turns_twin", run_turns<0>},
                   {"turns_reset_by_another_twin", run_turns<32>},
                   {"last_block", run_last<false>},
                   {"last_block_twin", run_last<true>},
                   {"reset", run_reset<false>},
                   {"reset_twin", run_reset<true>},
                   {"lock", run_locked<false>},
                   {"lock_twin", run_locked<true>},
                   {"fence_before_barrier", run_raised<Fence::before_barrier>},
                   {"fence_before_write", run_raised<Fence::before_write>},
                   {"fence_behind_barrier_twin", run_raised<Fence::behind_barrier>},
                   {"fence_by_all_twin", run_raised<Fence::by_all>}});
}
