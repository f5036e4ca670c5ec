// A thread polls a counter or a flag for less than it needs. When it looks, all have come.
// options: --workers 1
#include <cooperative_groups.h>
#include <cuda/atomic>

#include "tests/kernels/check/check_test.cuh"

__device__ int acquired(const int* p) {
  int v;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
__device__ void released(int* p, int v) {
  asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ void add_released(int* p) {
  asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(p) : "memory");
}

enum class Poll { acquire, fence, relaxed_while_asleep, once, scaled, equal };

// The last block adds up what the others wrote.
template <Poll poll, int missing>
__global__ void count(int* parts, int* come, int* out) {
  const unsigned t = threadIdx.x;
  const int others = static_cast<int>(gridDim.x) - 1;
  if (blockIdx.x != gridDim.x - 1) {
    parts[blockIdx.x * 32 + t] = t;  // [part]
    __syncthreads();
    if (t != 0) return;
    if (poll == Poll::acquire) return add_released(come);
    __threadfence();
    atomicAdd(come, 1);
    return;
  }
  const int wanted = others - missing;
  if (t == 0) {
    if (poll == Poll::acquire)
      while (acquired(come) < wanted) {
      }
    if (poll == Poll::fence) {
      while (*(volatile int*)come < wanted) {
      }
      __threadfence();
    }
    if (poll == Poll::relaxed_while_asleep) {
      cuda::atomic_ref<int, cuda::thread_scope_device> c(*come);
      while (c.load(cuda::memory_order_relaxed) < wanted) __nanosleep(20);
      cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    }
    if (poll == Poll::once && acquired(come) < wanted) __trap();
    if (poll == Poll::scaled)
      while (min(acquired(come), wanted) * 2 + 1 < wanted * 2) {
      }
    if (poll == Poll::equal)
      while (acquired(come) != wanted) {
      }
  }
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < others; ++i) sum += parts[i * 32 + t];  // [sum]
  out[t] = sum;
}
template <Poll poll, int missing>
void run_count() {
  Buffer<int> parts(6 * 32), come(1), out(32);
  count<poll, missing><<<6, 32>>>(parts, come, out);
}

// Warps of a block count in shared memory.
template <int missing>
__global__ void warps(int* out) {
  __shared__ int parts[8][32], come;
  const unsigned t = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) come = 0;
  __syncthreads();
  if (warp != 7) {
    parts[warp][t] = t;  // [warp part]
    __threadfence_block();
    __syncwarp();
    if (t == 0) atomicAdd(&come, 1);
    return;
  }
  while (*(volatile int*)&come < 7 - missing) {
  }
  __threadfence_block();
  int sum = 0;
  for (int i = 0; i < 7; ++i) sum += parts[i][t];  // [warp sum]
  out[t] = sum;
}
template <int missing>
void run_warps() {
  Buffer<int> out(32);
  warps<missing><<<1, 256>>>(out);
}

// One block writes values to places of a ring, another reads them.
template <bool waits>
__global__ void ring(int* places, int* full, int* empty, int* out, int n) {
  constexpr int size = 4;
  if (threadIdx.x != 0) return;
  for (int i = 0; i < n; ++i) {
    const int at = i % size, turn = i / size;
    if (blockIdx.x == 0) {
      if (waits)
        while (acquired(&empty[at]) < turn) {
        }
      places[at] = i;  // [fills]
      released(&full[at], turn + 1);
    } else {
      while (acquired(&full[at]) < turn + 1) {
      }
      out[i] = places[at];  // [takes]
      released(&empty[at], turn + 1);
    }
  }
}
template <bool waits>
void run_ring() {
  Buffer<int> places(4), full(4), empty(4), out(32);
  ring<waits><<<2, 32>>>(places, full, empty, out, 32);
}

// A barrier of the grid that counts on. `short_by`: arrivals that it does not wait for.
template <int short_by>
__global__ void rounds(int* a, int* b, int* come, int n) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int k = 0; k < n; ++k) {
    b[t] = a[(t + blockDim.x) % all] + 1;  // [round]
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(come, 1);
      while (*(volatile int*)come < (k + 1) * static_cast<int>(gridDim.x) - short_by) {
      }
      __threadfence();
    }
    __syncthreads();
    int* const swapped = a;
    a = b, b = swapped;
  }
}
template <int short_by>
void run_rounds() {
  Buffer<int> a(4 * 32), b(4 * 32), come(1);
  rounds<short_by><<<4, 32>>>(a, b, come, 4);
}

// Barriers whose threads wait for a value to change, for a bit to flip, and cooperative groups'.
enum class Barrier { generation, sense, grid };
template <Barrier barrier>
__global__ void steps(int* a, int* b, unsigned* come, unsigned* turn, int n) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int k = 0; k < n; ++k) {
    b[t] = a[(t + blockDim.x) % all] + 1;
    if (barrier == Barrier::grid) {
      cooperative_groups::this_grid().sync();
    } else {
      __syncthreads();
      if (threadIdx.x == 0) {
        __threadfence();
        if (barrier == Barrier::generation) {
          const unsigned now = *(volatile unsigned*)turn;
          if (atomicAdd(come, 1) == gridDim.x - 1) {
            *come = 0;
            __threadfence();
            *(volatile unsigned*)turn = now + 1;
          } else {
            while (*(volatile unsigned*)turn == now) {
            }
          }
        } else {
          const unsigned add = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;
          const unsigned old = atomicAdd(come, add);
          while (((old ^ *(volatile unsigned*)come) & 0x80000000u) == 0) {
          }
        }
        __threadfence();
      }
      __syncthreads();
    }
    int* const swapped = a;
    a = b, b = swapped;
  }
}
template <Barrier barrier>
void run_steps() {
  Buffer<int> a(4 * 32), b(4 * 32);
  Buffer<unsigned> come(1), turn(1);
  int *one = a, *other = b, n = 5;
  unsigned *c = come, *d = turn;
  void* arguments[] = {&one, &other, &c, &d, &n};
  cudaLaunchCooperativeKernel((void*)steps<barrier>, dim3(4), dim3(32), arguments);
}

// The reader takes all that the value says, so the value does more than end a poll.
__global__ void batches(int* values, int* count, int* out, int n) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      values[i] = i;
      released(count, i + 1);
    }
  } else {
    for (int taken = 0; taken < n;) {
      int ready;
      do ready = acquired(count);
      while (ready == taken);
      for (; taken < ready; ++taken) out[taken] = values[taken];
    }
  }
}
void run_batches() {
  Buffer<int> values(32), count(1), out(32);
  batches<<<2, 32>>>(values, count, out, 32);
}

// The counter begins anew in each launch, and its reader sets it back.
__global__ void used_again(int* parts, int* come, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x != 3) {
    parts[blockIdx.x] = blockIdx.x;
    return add_released(come);
  }
  while (acquired(come) < 3) {
  }
  out[0] = parts[0] + parts[1] + parts[2];
  *come = 0;
}
void run_used_again() {
  Buffer<int> parts(3), come(1), out(1);
  for (int i = 0; i < 3; ++i) used_again<<<4, 32>>>(parts, come, out);
}

// Each waits for one more than the last, though all had come at the first look.
__global__ void one_by_one(int* parts, int* come, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    for (int i = 0; i < 6; ++i) {
      parts[i] = i;
      released(come, i + 1);
    }
    return;
  }
  for (int i = 0; i < 6; ++i) {
    while (acquired(come) <= i) {
    }
    out[i] = parts[i];
  }
}
void run_one_by_one() {
  Buffer<int> parts(6), come(1), out(6);
  one_by_one<<<2, 32>>>(parts, come, out);
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"acquire", run_count<Poll::acquire, 1>},
                   {"acquire_twin", run_count<Poll::acquire, 0>},
                   {"fence", run_count<Poll::fence, 1>},
                   {"fence_twin", run_count<Poll::fence, 0>},
                   {"asleep", run_count<Poll::relaxed_while_asleep, 2>},
                   {"asleep_twin", run_count<Poll::relaxed_while_asleep, 0>},
                   {"once", run_count<Poll::once, 1>},
                   {"once_twin", run_count<Poll::once, 0>},
                   {"scaled", run_count<Poll::scaled, 1>},
                   {"scaled_twin", run_count<Poll::scaled, 0>},
                   {"equal_twin", run_count<Poll::equal, 0>},
                   {"warps", run_warps<1>},
                   {"warps_twin", run_warps<0>},
                   {"ring", run_ring<false>},
                   {"ring_twin", run_ring<true>},
                   {"rounds", run_rounds<1>},
                   {"rounds_twin", run_rounds<0>},
                   {"generation_twin", run_steps<Barrier::generation>},
                   {"sense_twin", run_steps<Barrier::sense>},
                   {"grid_twin", run_steps<Barrier::grid>},
                   {"batches_twin", run_batches},
                   {"used_again_twin", run_used_again},
                   {"one_by_one_twin", run_one_by_one}});
}
