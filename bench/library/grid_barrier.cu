// Compares barriers for all blocks of a grid with NVIDIA's grid.sync in one run:
//   grid_barrier [ROUNDS]
// Prints ns per barrier, medians of 11 launches after 2 warm-ups, and the ratio to NVIDIA's. Each
// way is checked first: every block must see what another wrote before the barrier.
#include <cooperative_groups.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <inflight/groups.cuh>
#include <inflight/launch.cuh>
#include <inflight/ptx/block_barrier.cuh>
#include <vector>

#include "examples/example.cuh"

namespace ptx = inflight::ptx;
constexpr auto gpu = ptx::scope::gpu;
using word = std::uint32_t;

__device__ bool leads() { return threadIdx.x == 0; }
__device__ word share() { return inflight::impl::flip_share(blockIdx.x == 0, gridDim.x); }

// Each way is constructed at the kernel's start, from zeroed memory, and then synced repeatedly.
struct nvidia {
  __device__ explicit nvidia(word*) {}
  __device__ void sync() { cooperative_groups::this_grid().sync(); }
};
struct library_grid {
  __device__ explicit library_grid(word*) {}
  __device__ void sync() { inflight::this_grid().sync(); }
};
struct library_barrier {
  inflight::grid_barrier* barrier;
  __device__ explicit library_barrier(word* memory)
      : barrier(reinterpret_cast<inflight::grid_barrier*>(memory)) {}
  __device__ void sync() { barrier->sync(); }
};

// The flipping word. The arrival returns its previous value.
struct flip_atom {
  word* at;
  __device__ explicit flip_atom(word* memory) : at(memory) {}
  __device__ void sync() {
    __syncthreads();
    if (leads()) inflight::impl::flip_sync<gpu>(at, share());
    __syncthreads();
  }
};

// The same, polled by relaxed loads with one fence after them.
struct flip_atom_relaxed {
  word* at;
  __device__ explicit flip_atom_relaxed(word* memory) : at(memory) {}
  __device__ void sync() {
    __syncthreads();
    if (leads()) {
      const word before = ptx::atom_add_acq_rel<gpu>(at, share());
      if (((before ^ (before + share())) & inflight::impl::flip_bit) == 0) {
        while (((ptx::ld_relaxed<gpu>(at) ^ before) & inflight::impl::flip_bit) == 0) {
        }
        ptx::fence_acq_rel<gpu>();
      }
    }
    __syncthreads();
  }
};

// The flipping word. Its value is kept from the previous round, so no load or result is awaited.
struct flip_kept {
  word* at;
  word before;
  __device__ explicit flip_kept(word* memory) : at(memory), before(ptx::ld_relaxed<gpu>(memory)) {}
  __device__ void sync() {
    __syncthreads();
    if (leads()) {
      ptx::red_add_release<gpu>(at, share());
      inflight::impl::flip_wait<gpu>(at, before);
    }
    before ^= inflight::impl::flip_bit;
    __syncthreads();
  }
};

// The same, but every warp polls for itself, and only the first one waits for the block.
struct flip_warps {
  word* at;
  word before;
  __device__ explicit flip_warps(word* memory) : at(memory), before(ptx::ld_relaxed<gpu>(memory)) {}
  __device__ void sync() {
    if (threadIdx.x < 32) {
      ptx::bar_sync(1, blockDim.x);
      if (leads()) ptx::red_add_release<gpu>(at, share());
    } else {
      ptx::bar_arrive(1, blockDim.x);
    }
    if (threadIdx.x % 32 == 0) inflight::impl::flip_wait<gpu>(at, before);
    before ^= inflight::impl::flip_bit;
    __syncwarp();
  }
};

// The same, but polls with relaxed loads, which do not touch the first-level cache.
struct flip_relaxed_poll {
  word* at;
  word before;
  __device__ explicit flip_relaxed_poll(word* memory)
      : at(memory), before(ptx::ld_relaxed<gpu>(memory)) {}
  __device__ void sync() {
    __syncthreads();
    if (leads()) {
      ptx::red_add_release<gpu>(at, share());
      while (int(ptx::ld_relaxed<gpu>(at) ^ before) >= 0) {
      }
      ptx::ld_acquire<gpu>(at);
    }
    before ^= inflight::impl::flip_bit;
    __syncthreads();
  }
};

// Every thread fences its own writes, in parallel. The arrival then needs no ordering.
struct flip_all_fence {
  word* at;
  word before;
  __device__ explicit flip_all_fence(word* memory)
      : at(memory), before(ptx::ld_relaxed<gpu>(memory)) {}
  __device__ void sync() {
    ptx::fence_acq_rel<gpu>();
    __syncthreads();
    if (leads()) {
      ptx::red_add_relaxed<gpu>(at, share());
      inflight::impl::flip_wait<gpu>(at, before);
    }
    before ^= inflight::impl::flip_bit;
    __syncthreads();
  }
};

// A counter that only increases.
struct count_up {
  word* at;
  word target = 0;
  __device__ explicit count_up(word* memory) : at(memory) {}
  __device__ void sync() {
    target += gridDim.x;
    __syncthreads();
    if (leads()) {
      ptx::red_add_release<gpu>(at, 1u);
      while (int(ptx::ld_acquire<gpu>(at) - target) < 0) {
      }
    }
    __syncthreads();
  }
};

// `Counters` counters, `Apart` words from each other. One lane polls each.
template <int Counters, int Apart>
struct count_split {
  word* at;
  word target = 0;
  __device__ explicit count_split(word* memory) : at(memory) {}
  __device__ void sync() {
    const word lane = threadIdx.x;
    target += (gridDim.x + Counters - 1 - lane) / Counters;
    __syncthreads();
    if (leads()) ptx::red_add_release<gpu>(at + blockIdx.x % Counters * Apart, 1u);
    if (lane < Counters)
      while (int(ptx::ld_acquire<gpu>(at + lane * Apart) - target) < 0) {
      }
    __syncthreads();
  }
};

// No counter. Each block has its own word, and each block's threads poll all words.
struct slots {
  word* at;
  word round = 0;
  __device__ explicit slots(word* memory) : at(memory) {}
  __device__ void sync() {
    ++round;
    __syncthreads();
    if (leads()) ptx::st_release<gpu>(at + blockIdx.x, round);
    for (word block = threadIdx.x; block < gridDim.x; block += blockDim.x)
      while (int(ptx::ld_acquire<gpu>(at + block) - round) < 0) {
      }
    __syncthreads();
  }
};

// The same with one block barrier. Each warp stores its own word, and the block reads all words.
struct slots_of_warps {
  word* at;
  word round = 0;
  __device__ explicit slots_of_warps(word* memory) : at(memory) {}
  __device__ void sync() {
    ++round;
    __syncwarp();
    const word warps = blockDim.x / 32;
    if (threadIdx.x % 32 == 0)
      ptx::st_release<gpu>(at + blockIdx.x * warps + threadIdx.x / 32, round);
    for (word warp = threadIdx.x; warp < gridDim.x * warps; warp += blockDim.x)
      while (int(ptx::ld_acquire<gpu>(at + warp) - round) < 0) {
      }
    __syncthreads();
  }
};

template <class Way>
__global__ void time_rounds(word* memory, int rounds) {
  Way way(memory);
  for (int round = 0; round < rounds; ++round) way.sync();
}

// The last thread of each block writes, and a thread of another block reads.
template <class Way>
__global__ void check_rounds(word* memory, int rounds, int* values, unsigned* wrong) {
  Way way(memory);
  for (int round = 0; round < rounds; ++round) {
    int* now = values + round % 2 * gridDim.x;
    if (threadIdx.x == blockDim.x - 1) now[blockIdx.x] = round;
    way.sync();
    if (threadIdx.x < gridDim.x && now[(threadIdx.x + blockIdx.x) % gridDim.x] != round)
      atomicAdd(wrong, 1);
  }
}

constexpr int memory_words = 1 << 16;

template <class Way>
void measure(const char* name, int blocks, int threads, int rounds, double& base) {
  static word* memory = nullptr;
  static int* values = nullptr;
  if (!memory) {
    CHECK(cudaMalloc(&memory, memory_words * sizeof(word)));
    CHECK(cudaMalloc(&values, 4096 * sizeof(int)));
  }
  CHECK(cudaMemset(memory, 0, memory_words * sizeof(word)));
  unsigned* wrong = reinterpret_cast<unsigned*>(memory + memory_words - 1);
  CHECK(inflight::launch_cooperative(check_rounds<Way>, blocks, threads, 0, nullptr, memory,
                                     std::min(rounds, 100), values, wrong));
  const unsigned seen = host_copy(wrong, 1)[0];
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int i = 0; i < 13; ++i) {
    CHECK(cudaMemset(memory, 0, memory_words * sizeof(word)));
    CHECK(cudaEventRecord(start));
    CHECK(inflight::launch_cooperative(time_rounds<Way>, blocks, threads, 0, nullptr, memory,
                                       rounds));
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (i >= 2) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  const double ns = times[times.size() / 2] * 1e6 / rounds;
  if (base == 0) base = ns;
  std::printf("%-44s %4d x %4d  %8.1f ns  %5.3f  %s\n", name, blocks, threads, ns, ns / base,
              seen ? "WRONG" : "right");
}

void measure_all(int blocks, int threads, int rounds) {
  double base = 0;
  measure<nvidia>("cooperative_groups: grid.sync()", blocks, threads, rounds, base);
  measure<library_grid>("this_grid().sync()", blocks, threads, rounds, base);
  measure<library_barrier>("grid_barrier", blocks, threads, rounds, base);
  measure<flip_atom>("flip, atom brings the phase", blocks, threads, rounds, base);
  measure<flip_atom_relaxed>("flip, atom, relaxed polling", blocks, threads, rounds, base);
  measure<flip_kept>("flip, phase kept", blocks, threads, rounds, base);
  measure<flip_warps>("flip, phase kept, every warp polls", blocks, threads, rounds, base);
  measure<flip_relaxed_poll>("flip, phase kept, relaxed polling", blocks, threads, rounds, base);
  measure<flip_all_fence>("flip, phase kept, every thread fences", blocks, threads, rounds, base);
  measure<count_up>("counter", blocks, threads, rounds, base);
  measure<count_split<4, 1>>("4 counters of one line", blocks, threads, rounds, base);
  measure<count_split<4, 64>>("4 counters, 256 bytes apart", blocks, threads, rounds, base);
  measure<count_split<16, 64>>("16 counters, 256 bytes apart", blocks, threads, rounds, base);
  measure<slots>("a word a block", blocks, threads, rounds, base);
  measure<slots_of_warps>("a word a warp", blocks, threads, rounds, base);
  std::printf("\n");
}

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 2000;
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  const int sms = device.multiProcessorCount;
  measure_all(sms, 128, rounds);
  measure_all(sms * 2, 128, rounds);
  measure_all(sms, 1024, rounds);
  measure_all(sms * 2, 1024, rounds);
}
