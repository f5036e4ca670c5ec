// memcpy_async in every form: by a group, a user-defined group, one thread; completed by a wait, a
// barrier, a pipeline; between pointers of two types; and in every direction.
#include <inflight/inflight.cuh>

#include "tests/kernels/kernel_test.cuh"

constexpr int threads = 96, count = 400;

// The minimum that a user-defined group has.
struct own_group {
  __device__ unsigned size() const { return threads; }
  __device__ unsigned thread_rank() const { return threadIdx.x; }
  __device__ void sync() const { __syncthreads(); }
};

template <class Group>
__device__ void with_barrier(const Group& group, void* to, const void* from, std::size_t bytes) {
  __shared__ inflight::barrier<inflight::thread_scope_block> ready;
  if (threadIdx.x == 0) init(&ready, threads);
  __syncthreads();
  inflight::memcpy_async(group, to, from, bytes, ready);
  ready.arrive_and_wait();
  __syncthreads();
  if (threadIdx.x == 0) ready.invalidate();  // the next call initialises it again
}

// Use of the interface in a function that takes any pipeline.
__device__ void stage(inflight::pipeline<inflight::thread_scope_block>& pipe, int* to,
                      const unsigned char* from, std::size_t bytes) {
  pipe.producer_acquire();
  inflight::memcpy_async(own_group{}, to, from, bytes, pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
}

__device__ int different(const int* a, const int* b) {
  int wrong = 0;
  for (int i = threadIdx.x; i < count; i += threads) wrong += a[i] != b[i];
  return wrong;
}

enum {
  group_alone,
  elements,
  mixed,
  by_barrier,
  own,
  by_thread,
  by_pipeline,
  to_global,
  to_shared,
  through_global,
  to_local,
  ways
};

__global__ void copies(const int* in, int* out, int* wrong) {
  alignas(16) __shared__ int a[count], b[count];
  auto block = inflight::this_thread_block();
  constexpr std::size_t bytes = sizeof a;
  const auto expect = [&](int way, const int* got) {
    __syncthreads();
    atomicAdd(&wrong[way], different(got, in));
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += threads) a[i] = -1;
    __syncthreads();
  };

  inflight::memcpy_async(block, a, in, bytes);
  inflight::wait(block);
  expect(group_alone, a);

  inflight::memcpy_async(block, a, inflight::aligned_size_t<8>(count), in, count + 10);
  inflight::wait(block);
  expect(elements, a);

  with_barrier(block, a, reinterpret_cast<const unsigned char*>(in), bytes);
  expect(by_barrier, a);
  {
    __shared__ inflight::barrier<> ready;
    if (threadIdx.x == 0) new (&ready) inflight::barrier<>(threads);
    __syncthreads();
    inflight::memcpy_async(own_group{}, a, reinterpret_cast<const float*>(in), bytes, ready);
    ready.wait(ready.arrive());
    expect(own, a);

    for (int i = threadIdx.x; i < count; i += threads)
      inflight::memcpy_async(&a[i], &in[i], sizeof(int), ready);
    ready.arrive_and_wait();
    expect(by_thread, a);
  }
  {
    __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, 2> state;
    inflight::pipeline<inflight::thread_scope_block> pipe = inflight::make_pipeline(block, &state);
    for (int round = 0; round < 5; ++round) {
      stage(pipe, a, reinterpret_cast<const unsigned char*>(in), bytes);
      expect(by_pipeline, a);
      pipe.consumer_release();
    }
    pipe.quit();
    __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, 2> another;
    auto static_pipe = inflight::make_pipeline(own_group{}, &another);
    stage(static_pipe, a, reinterpret_cast<const unsigned char*>(in), bytes);
    expect(mixed, a);
    static_pipe.consumer_release();
    __syncthreads();
  }

  inflight::memcpy_async(block, a, in, bytes);
  inflight::wait(block);
  with_barrier(block, out, a, bytes);
  expect(to_global, out);

  inflight::memcpy_async(block, b, in, bytes);
  inflight::wait(block);
  inflight::memcpy_async(block, a, b, bytes);
  inflight::wait(block);
  expect(to_shared, a);

  with_barrier(block, out + count, in, bytes - 1);
  with_barrier(block, reinterpret_cast<char*>(out + 2 * count) - 1,
               reinterpret_cast<const char*>(in + count) - 1, 1);
  expect(through_global, out + count);

  int local[count / threads + 1];
  auto alone = inflight::make_pipeline();
  alone.producer_acquire();
  for (int i = threadIdx.x, n = 0; i < count; i += threads, ++n)
    inflight::memcpy_async(&local[n], &in[i], sizeof(int), alone);
  alone.producer_commit();
  alone.consumer_wait();
  for (int i = threadIdx.x, n = 0; i < count; i += threads, ++n) a[i] = local[n];
  alone.consumer_release();
  expect(to_local, a);
}

// Threads of a larger group, which copy only what lies past 4 GiB.
struct last_threads {
  __device__ unsigned size() const { return 1u << 31; }
  __device__ unsigned thread_rank() const { return (1u << 30) + threadIdx.x; }
};

__global__ void past_4_gib(const int* in, int* out) {
  constexpr std::uintptr_t before = std::uintptr_t{1} << 32;
  inflight::memcpy_async(
      last_threads{}, reinterpret_cast<int*>(reinterpret_cast<std::uintptr_t>(out) - before),
      reinterpret_cast<const int*>(reinterpret_cast<std::uintptr_t>(in) - before),
      before + sizeof(int) * blockDim.x);
}

// A timed wait, with the units of cuda::std::chrono.
struct microseconds {
  struct period {
    static constexpr long long num = 1, den = 1000000;
  };
  long long ticks;
  __device__ long long count() const { return ticks; }
};
struct moment {
  long long ticks;
  __device__ microseconds time_since_epoch() const { return {ticks}; }
};

__global__ void timed(int* out) {
  __shared__ inflight::barrier<> ready;
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, 1> state;
  auto block = inflight::this_thread_block();
  if (threadIdx.x == 0) ready.init(64);
  block.sync();
  auto pipe = inflight::make_pipeline(block, &state);
  const auto token = threadIdx.x < 32 ? ready.arrive() : 0;
  if (threadIdx.x == 0) {
    out[0] = ready.try_wait_for(token, microseconds{20});
    out[1] = ready.try_wait_parity_for(false, microseconds{20});
    out[2] = ready.try_wait_until(token, moment{1});
    out[3] = pipe.consumer_wait_for(microseconds{20});
  }
  block.sync();
  if (threadIdx.x == 32) ready.arrive(32);
  pipe.producer_acquire();
  pipe.producer_commit();
  if (threadIdx.x == 0) {
    out[4] = ready.try_wait_for(token, microseconds{1000000000});
    out[5] = ready.try_wait_parity_until(false, moment{1});
    out[6] = pipe.consumer_wait_for(microseconds{1000000000});
    out[7] = pipe.consumer_wait_until(moment{1});
    out[8] = ready.try_wait(token) && ready.try_wait_parity(false) && !ready.try_wait_parity(true);
  }
}

int main() {
  std::vector<int> values(count + 10);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = int(i * 2654435761u);
  Buffer<int> in(values), out(2 * count), wrong(ways), times(9);
  copies<<<1, threads>>>(in.device, out.device, wrong.device);
  print(
      "elements wrong, by a group, in elements, in any pipeline, by a barrier, by a group of one's "
      "own, by a thread, in a pipeline, shared to global, shared to shared, global to global, "
      "global to local",
      wrong.read());
  Buffer<int> past(threads);
  past_4_gib<<<1, threads>>>(in.device, past.device);
  std::vector<int> wrong_past(1);
  past.read();
  for (int i = 0; i < threads; ++i) wrong_past[0] += past.host[i] != values[i];
  print("elements wrong past 4 GiB", wrong_past);
  timed<<<1, 64>>>(times.device);
  print("waits that ended in time", times.read());
}
