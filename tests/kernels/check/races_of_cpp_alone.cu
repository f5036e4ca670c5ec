// What CUDA C++ calls a data race and PTX defines: the three warnings of --strict, and their twins.
// options: --strict
#include "tests/kernels/check/check_test.cuh"

__device__ int lock_word, flag;

// --- a plain load before an atomic ---

enum class Load { plain, atomic };
template <Load how>
__device__ int load(int* at) {
  if (how == Load::plain) return *at;  // [peek]
  int value;
  asm volatile("ld.relaxed.gpu.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

template <Load how>
__global__ void guarded_max(int* most) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (load<how>(most) < v) atomicMax(most, v);  // [max]
}

template <Load how>
__global__ void own_word(int* most) {
  int* const mine = most + blockIdx.x * blockDim.x + threadIdx.x;
  if (load<how>(mine) < 5) atomicMax(mine, 5);
}

// --- one value by several threads ---

enum class Writers { all, lanes, one, one_of_each_block };
template <Writers who>
__global__ void mark(int* done, int* out) {
  const bool first = threadIdx.x == 0 && (who != Writers::one || blockIdx.x == 0);
  if (who == Writers::all || (who == Writers::lanes && threadIdx.x < 32 && blockIdx.x == 0) ||
      first)
    *done = 1;  // [mark]
  out[blockIdx.x * blockDim.x + threadIdx.x] = 7;
}

template <bool ordered>
__global__ void in_turns(int* out) {
  __shared__ int state[2];
  if (threadIdx.x == 0) state[out[0]] = 1;  // [first]
  if (ordered) __syncthreads();
  if (threadIdx.x == 32) state[out[1]] = 1;  // [second]
  __syncthreads();
  out[threadIdx.x + 64] = state[out[2]];
}

// --- volatile data ---

enum class Fences { both, none, release_only, narrow };
__device__ void take_lock() {
  while (atomicCAS(&lock_word, 0, 1) != 0) {
  }
}
__device__ void release_lock() { atomicExch(&lock_word, 0); }

template <Fences fences>
__device__ void before_release() {
  if (fences == Fences::narrow) __threadfence_block();
  if (fences == Fences::both || fences == Fences::release_only) __threadfence();
}
template <Fences fences>
__device__ void after_acquire() {
  if (fences == Fences::both || fences == Fences::narrow) __threadfence();
}

// Volatile flag, volatile data.
template <Fences fences>
__global__ void hand_over(volatile int* data, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 5;  // [write]
    before_release<fences>();
    *(volatile int*)&flag = 1;
  } else {
    while (*(volatile int*)&flag == 0) {
    }
    after_acquire<fences>();
    *out = data[0];  // [read]
  }
}

template <Fences fences>
__global__ void under_a_lock(volatile int* data) {
  if (threadIdx.x != 0) return;
  take_lock();
  after_acquire<fences>();
  data[0] = data[0] + 1;  // [add]
  before_release<fences>();
  release_lock();
}

// One block goes without the lock.
__global__ void beside_a_lock(volatile int* data) {
  if (blockIdx.x == 1) {
    data[0] = 2;  // [beside]
    return;
  }
  take_lock();
  __threadfence();
  data[0] = 1;  // [within]
  __threadfence();
  release_lock();
}

// A store beside an atomic, which nothing orders.
template <bool ordered>
__global__ void store_beside_atomic(volatile int* data) {
  if (threadIdx.x == 0) atomicAdd((int*)data, 1);  // [atomic]
  if (ordered) __syncthreads();
  if (threadIdx.x == 32) *data = 2;  // [store]
}

// Each block marks its own flag, and all blocks look at all of them, more than once.
__global__ void flags_of_all(volatile int* flags, int* out) {
  if (threadIdx.x == 0) {
    __threadfence();
    flags[blockIdx.x] = 1;
  }
  if (threadIdx.x < gridDim.x) {
    while (flags[threadIdx.x] == 0) {
    }
    __threadfence();
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}

// Several threads raise a flag that others poll.
__global__ void raised_by_many(volatile int* raised, int* out) {
  if (blockIdx.x != 0) *raised = blockIdx.x;
  if (blockIdx.x == 0)
    while (*raised == 0) {
    }
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// The last block adds up what all blocks have stored, as in the CUDA guide.
__global__ void last_block(volatile int* parts, unsigned* count, int* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x;
    __threadfence();
    last = atomicInc(count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  int all = 0;
  for (int i = 0; i < gridDim.x; ++i) all += parts[i];
  *sum = all;
}

template <bool ordered>
__global__ void between_lanes(int* out) {
  __shared__ volatile int sums[32];
  sums[threadIdx.x] = threadIdx.x;  // [own lane]
  if (ordered) __syncwarp();
  out[threadIdx.x] = sums[31 - threadIdx.x];  // [other lane]
}

template <auto kernel, int blocks = 2, int threads = 64>
void run_one() {
  Buffer<int> at(1024);
  CHECK(cudaMemset(at, 0, 1024 * sizeof(int)));
  kernel<<<blocks, threads>>>(at);
}
template <auto kernel, int blocks = 2, int threads = 64>
void run_two() {
  Buffer<int> at(1024), out(1024);
  CHECK(cudaMemset(at, 0, 1024 * sizeof(int)));
  kernel<<<blocks, threads>>>(at, out);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"peek", run_one<guarded_max<Load::plain>>},
                   {"peek_twin", run_one<guarded_max<Load::atomic>>},
                   {"peek_own_word", run_one<own_word<Load::plain>>},
                   {"all_mark", run_two<mark<Writers::all>, 1>},
                   {"lanes_mark", run_two<mark<Writers::lanes>, 1>},
                   {"blocks_mark", run_two<mark<Writers::one_of_each_block>>},
                   {"one_marks", run_two<mark<Writers::one>>},
                   {"same_shared", run_one<in_turns<false>, 1>},
                   {"same_shared_twin", run_one<in_turns<true>, 1>},
                   {"handed_over", run_two<hand_over<Fences::none>>},
                   {"handed_over_release_only", run_two<hand_over<Fences::release_only>>},
                   {"handed_over_narrow", run_two<hand_over<Fences::narrow>>},
                   {"handed_over_twin", run_two<hand_over<Fences::both>>},
                   {"lock", run_one<under_a_lock<Fences::none>>},
                   {"lock_twin", run_one<under_a_lock<Fences::both>>},
                   {"beside_a_lock", run_one<beside_a_lock, 2, 1>},
                   {"beside_atomic", run_one<store_beside_atomic<false>, 1>},
                   {"beside_atomic_twin", run_one<store_beside_atomic<true>, 1>},
                   {"flags_of_all", run_two<flags_of_all>},
                   {"raised_by_many", run_two<raised_by_many, 4, 1>},
                   {"last_block",
                    [] {
                      Buffer<int> parts(64), sum(1);
                      Buffer<unsigned> count(1);
                      CHECK(cudaMemset(count, 0, sizeof(unsigned)));
                      last_block<<<4, 64>>>(parts, count, sum);
                    }},
                   {"between_lanes", run_one<between_lanes<false>, 1, 32>},
                   {"between_lanes_twin", run_one<between_lanes<true>, 1, 32>}});
}
