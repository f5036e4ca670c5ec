// A block's pipeline whose state lies in shared, global or local memory, or on the host: by one
// thread that produces and consumes, by a block with roles, and by threads of the host.
#include <cstdint>
#include <cuda/std/chrono>
#include <inflight/groups.cuh>
#include <inflight/pipeline.cuh>
#include <thread>

#include "tests/kernels/kernel_test.cuh"

namespace {

constexpr std::uint8_t stages = 2;  // a type that programs write
constexpr int tiles = 5, count = 96, threads = 64;
using shared_state = inflight::pipeline_shared_state<inflight::thread_scope_block, stages>;

// A group of any type.
struct alone {
  INFLIGHT_HOST_DEVICE static unsigned size() { return 1; }
  INFLIGHT_HOST_DEVICE static unsigned thread_rank() { return 0; }
  INFLIGHT_HOST_DEVICE static void sync() {}
};

// Deduces the number of stages with its type, and passes the pipeline on without it.
template <class Group, std::uint8_t Stages>
INFLIGHT_HOST_DEVICE inflight::pipeline<inflight::thread_scope_block> pipeline_of(
    const Group& group,
    inflight::pipeline_shared_state<inflight::thread_scope_block, Stages>* state) {
  return inflight::make_pipeline(group, state);
}

// One thread moves the tiles through `tile`; returns the number of wrong elements.
INFLIGHT_HOST_DEVICE int move(shared_state* state, int* tile, const int* in) {
  auto pipe = pipeline_of(alone{}, state);
  int wrong = 0;
  for (int i = 0; i < tiles; ++i) {
    pipe.producer_acquire();
    inflight::memcpy_async(tile + pipe.producer_stage() * count, in + i * count,
                           count * sizeof(int), pipe);
    pipe.producer_commit();
    if (i % 2 == 0)
      pipe.consumer_wait();
    else
      wrong += !pipe.consumer_wait_for(cuda::std::chrono::seconds(30));
    for (int k = 0; k < count; ++k)
      wrong += tile[pipe.consumer_stage() * count + k] != in[i * count + k];
    pipe.consumer_release();
  }
  return wrong + !pipe.quit();
}

INFLIGHT_HOST_DEVICE int move_by_one_thread(const int* in, int* tile) {
  auto pipe = inflight::make_pipeline<stages>();
  int wrong = 0;
  for (int i = 0; i < tiles; ++i) {
    pipe.producer_acquire();
    inflight::memcpy_async(tile, in + i * count, count * sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    for (int k = 0; k < count; ++k) wrong += tile[k] != in[i * count + k];
    pipe.consumer_release();
  }
  return wrong;
}

__device__ shared_state global_state;
__device__ int global_tile[stages * count];

__global__ void move_alone(const int* in, int* wrong) {
  __shared__ shared_state in_shared;
  shared_state in_local;
  __shared__ int shared_tile[stages * count];
  int local_tile[stages * count];
  int* const tile[] = {shared_tile, global_tile, local_tile};
  for (int* each : tile) {
    *wrong++ = move(&in_shared, each, in);
    *wrong++ = move(&global_state, each, in);
    *wrong++ = move(&in_local, each, in);
  }
  *wrong = move_by_one_thread(in, shared_tile);
}

// Odd threads copy, the others use.
__global__ void with_roles(const int* in, int* out, int* last) {
  __shared__ int tile[stages][count];
  const auto block = inflight::this_thread_block();
  const bool produces = threadIdx.x % 2 != 0;
  auto pipe = inflight::make_pipeline(
      block, &global_state,
      produces ? inflight::pipeline_role::producer : inflight::pipeline_role::consumer);
  const int rank = int(threadIdx.x) / 2, half = threads / 2;
  for (int i = 0; i < tiles; ++i) {
    if (produces) {
      pipe.producer_acquire();
      for (int k = rank; k < count; k += half)
        inflight::memcpy_async(&tile[i % stages][k], &in[i * count + k], sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      for (int k = rank; k < count; k += half) out[i * count + k] = tile[i % stages][count - 1 - k];
      pipe.consumer_release();
    }
  }
  if (pipe.quit()) atomicAdd(last, 1);
}

// Two threads of the host.
int between_host_threads(const int* in) {
  static shared_state state;
  static int tile[stages][count], met = 0;
  struct two {
    int rank;
    unsigned size() const { return 2; }
    int thread_rank() const { return rank; }
    void sync() const {  // used twice by each thread in turn
      const int before = __atomic_fetch_add(&met, 1, __ATOMIC_ACQ_REL);
      while (__atomic_load_n(&met, __ATOMIC_ACQUIRE) < before / 2 * 2 + 2)
        std::this_thread::yield();
    }
  };
  int wrong = 0, last = 0;
  const auto work = [&](int rank) {
    auto pipe = inflight::make_pipeline(two{rank}, &state, std::size_t{1});
    for (int i = 0; i < tiles; ++i) {
      if (rank == 0) {
        pipe.producer_acquire();
        inflight::memcpy_async(tile[pipe.producer_stage()], in + i * count, sizeof tile[0], pipe);
        pipe.producer_commit();
      } else {
        pipe.consumer_wait();
        for (int k = 0; k < count; ++k)
          wrong += tile[pipe.consumer_stage()][k] != in[i * count + k];
        pipe.consumer_release();
      }
    }
    if (pipe.quit()) __atomic_fetch_add(&last, 1, __ATOMIC_RELAXED);
  };
  std::thread producer(work, 0);
  work(1);
  producer.join();
  return wrong + (last != 1);
}

}  // namespace

int main() {
  int *in, *out, *wrong;
  CHECK(cudaMallocManaged(&in, tiles * count * sizeof(int)));
  CHECK(cudaMallocManaged(&out, tiles * count * sizeof(int)));
  CHECK(cudaMallocManaged(&wrong, 16 * sizeof(int)));
  for (int i = 0; i < tiles * count; ++i) in[i] = i * 7 + 1;

  shared_state state;
  int tile[stages * count];
  std::printf("host: %d and %d wrong\n", move(&state, tile, in), move_by_one_thread(in, tile));
  std::printf("two host threads: %d wrong\n", between_host_threads(in));

  move_alone<<<1, 1>>>(in, wrong);
  CHECK(cudaDeviceSynchronize());
  const char* const memory[] = {"shared", "global", "local"};
  for (int to = 0; to < 3; ++to)
    for (int at = 0; at < 3; ++at)
      std::printf("to %s memory, state in %s memory: %d wrong\n", memory[to], memory[at],
                  wrong[to * 3 + at]);
  std::printf("one thread's pipeline: %d wrong\n", wrong[9]);

  wrong[0] = 0;
  with_roles<<<1, threads>>>(in, out, wrong);
  CHECK(cudaDeviceSynchronize());
  int different = 0;
  for (int i = 0; i < tiles; ++i)
    for (int k = 0; k < count; ++k) different += out[i * count + k] != in[(i + 1) * count - 1 - k];
  std::printf("roles, state in global memory: %d wrong, %d last to leave\n", different, wrong[0]);
}
