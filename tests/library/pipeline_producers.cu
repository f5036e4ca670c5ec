// arch: sm_90a
// stderr: one thread produces into a pipeline of transaction_bytes
// Tensor copies directly into a pipeline's stages. Also 32 threads that all produce into stages
// that expect one producer: the kernel ends with an error that says so.
#include <inflight/groups.cuh>
#include <inflight/pipeline.cuh>

#include "tests/library/tensors.cuh"

namespace {

constexpr int stages = 3, batches = 8;
using tile = inflight::swizzled_tile<float, 8, 32, inflight::swizzle::b128>;

__global__ void tiles(const __grid_constant__ inflight::tile_map<tile> map, float* out) {
  __shared__ tile stage[stages];
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, stages> state;
  const auto block = inflight::this_thread_block();
  auto pipe = inflight::make_pipeline<inflight::transaction_bytes>(block, &state);
  for (int used = 0, fetched = 0; used < batches; ++used) {
    if (threadIdx.x == 0)
      for (; fetched < batches && fetched < used + stages; ++fetched) {
        pipe.producer_acquire();
        inflight::copy_async(stage[pipe.producer_stage()], map, {0, 8 * fetched}, pipe);
        pipe.producer_commit();
      }
    pipe.consumer_wait();
    for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x)
      out[used * 8 * 32 + i] = stage[pipe.consumer_stage()](i / 32, i % 32);
    pipe.consumer_release();
  }
}

__global__ void all_produce(int* out, const int* in) {
  __shared__ alignas(128) int stage[2][128];
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, 2> state;
  const auto block = inflight::this_thread_block();
  auto pipe = inflight::make_pipeline<inflight::transaction_bytes>(block, &state, 32);
  int sum = 0;
  for (int i = 0; i < 6; ++i)
    if (threadIdx.x < 32) {
      const int first = 4 * threadIdx.x;
      pipe.producer_acquire();
      inflight::memcpy_async(stage[pipe.producer_stage()] + first, in + 128 * i + first, 16, pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum += stage[pipe.consumer_stage()][threadIdx.x];
      pipe.consumer_release();
    }
  out[threadIdx.x] = sum;
}

}  // namespace

int main() {
  Buffer<float> in(numbered<float>(batches * 8 * 32)), out(batches * 8 * 32);
  tiles<<<1, 64>>>(good(inflight::make_tensor_map<tile>(in.device, {32, 8 * batches})), out.device);
  verdict("tensor copies into a pipeline", out.read() == in.host);
  Buffer<int> numbers(6 * 128), sums(96);
  all_produce<<<1, 96>>>(sums.device, numbers.device);
  // An H200 returns 719 (launch failure), not the error of an assert.
  std::printf("32 producers end with an error: %d\n", cudaDeviceSynchronize() != cudaSuccess);
}
