// Pipelines of block, device and system scope by one source: every thread produces and consumes, or
// the threads have roles; and what quit() returns.
#include <cuda/std/chrono>
#include <inflight/groups.cuh>
#include <inflight/pipeline.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace {

constexpr int stages = 3, tiles = 7, count = 256, threads = 128;

template <inflight::thread_scope Scope>
__global__ void unified(int* out, const int* in, int* last) {
  __shared__ inflight::pipeline_shared_state<Scope, stages> state;
  alignas(16) __shared__ int tile[stages][count];
  const auto block = inflight::this_thread_block();
  auto pipe = inflight::make_pipeline(block, &state);
  for (int i = 0; i < tiles + stages - 1; ++i) {
    if (i < tiles) {
      pipe.producer_acquire();
      inflight::memcpy_async(block, tile[i % stages], in + count * i,
                             inflight::aligned_size_t<16>(sizeof tile[0]), pipe);
      pipe.producer_commit();
    }
    const int use = i - stages + 1;
    if (use < 0) continue;
    pipe.consumer_wait();
    for (int k = threadIdx.x; k < count; k += threads)
      out[count * use + k] = tile[use % stages][count - 1 - k];
    pipe.consumer_release();
  }
  if (pipe.quit()) atomicAdd(last, 1);
}

// The first warp produces by ordinary stores and copies, the others consume.
template <inflight::thread_scope Scope, bool Counted>
__global__ void with_roles(int* out, const int* in, int* last) {
  __shared__ inflight::pipeline_shared_state<Scope, stages> state;
  alignas(16) __shared__ int tile[stages][count];
  const auto block = inflight::this_thread_block();
  const bool produces = threadIdx.x < 32;
  auto pipe = [&] {
    if constexpr (Counted)
      return inflight::make_pipeline(block, &state, std::size_t(32));
    else
      return inflight::make_pipeline(
          block, &state,
          produces ? inflight::pipeline_role::producer : inflight::pipeline_role::consumer);
  }();
  for (int i = 0; i < tiles; ++i) {
    if (produces) {
      pipe.producer_acquire();
      const int stage = pipe.producer_stage();
      for (int k = threadIdx.x; k < count; k += 32)
        inflight::memcpy_async(&tile[stage][k], in + count * i + k, sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      while (!pipe.consumer_wait_for(cuda::std::chrono::microseconds(10))) {
      }
      const int stage = pipe.consumer_stage();
      for (int k = threadIdx.x - 32; k < count; k += threads - 32)
        out[count * i + k] = tile[stage][count - 1 - k];
      pipe.consumer_release();
    }
  }
  if (pipe.quit()) atomicAdd(last, 1);
}

template <class Kernel>
void check(const char* name, Kernel kernel) {
  std::vector<int> values(tiles * count);
  for (int i = 0; i < tiles * count; ++i) values[i] = 3 * i;
  Buffer<int> in(values), out(tiles * count), last(1);
  kernel<<<1, threads>>>(out.device, in.device, last.device);
  out.read();
  int wrong = 0;
  for (int i = 0; i < tiles * count; ++i)
    wrong += out.host[i] != values[i / count * count + count - 1 - i % count];
  std::printf("%s: %d wrong, %d last to leave\n", name, wrong, last.read()[0]);
}

}  // namespace

int main() {
  check("block", unified<inflight::thread_scope_block>);
  check("device", unified<inflight::thread_scope_device>);
  check("system", unified<inflight::thread_scope_system>);
  check("block, roles", with_roles<inflight::thread_scope_block, false>);
  check("device, roles", with_roles<inflight::thread_scope_device, false>);
  check("system, the first 32 threads", with_roles<inflight::thread_scope_system, true>);
}
