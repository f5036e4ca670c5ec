// Warps with different roles. One thread of the first warp loads tiles by bulk copies. The other
// warps compute in place, and one of their threads stores each tile by a bulk copy. No thread
// accesses global memory. The pipeline and one barrier of the consumers synchronise them.
#include <inflight/copy.cuh>
#include <inflight/groups.cuh>
#include <inflight/pipeline.cuh>
#include <inflight/ptx/block_barrier.cuh>

#include "examples/example.cuh"

namespace {

constexpr int consumers = 128, threads = 32 + consumers, tile_count = 2048, tiles_of_block = 16;
using tile_type = float[tile_count];

struct parameters {
  float scale, offset;
};

template <class Pipeline>
__device__ void produce(Pipeline& pipe, tile_type* tile, const float* in) {
  for (int i = 0; i < tiles_of_block; ++i) {
    pipe.producer_acquire();
    pipe.copies().load(tile[pipe.producer_stage()], in + i * tile_count, sizeof(tile_type));
    pipe.producer_commit();
  }
}

template <class Pipeline>
__device__ void consume(Pipeline& pipe, tile_type* tile, float* out, parameters by) {
  const int rank = threadIdx.x - 32;
  for (int i = 0; i < tiles_of_block; ++i) {
    pipe.consumer_wait();
    float* mine = tile[pipe.consumer_stage()];
    for (int k = rank; k < tile_count; k += consumers) mine[k] = mine[k] * by.scale + by.offset;
    // Makes this thread's writes visible to the bulk store, then waits until all consumers are
    // here.
    inflight::release_to_async();
    inflight::ptx::bar_sync(1, consumers);
    if (rank == 0) {
      inflight::bulk_store(out + i * tile_count, mine, sizeof(tile_type));
      inflight::bulk_commit();
      inflight::bulk_wait_read();  // the store has read the tile; it may be filled again
    }
    pipe.consumer_release();
  }
}

__global__ void __launch_bounds__(threads) stream(float* out, const float* in, parameters by) {
  constexpr int stages = inflight::stages_for<sizeof(tile_type), 4>();  // four blocks an SM
  alignas(128) __shared__ tile_type tile[stages];
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, stages> state;
  auto block = inflight::this_thread_block();
  // The first 32 threads produce, the others consume.
  auto pipe = inflight::make_pipeline<inflight::transaction_bytes>(block, &state, 32);
  const std::size_t first = std::size_t{blockIdx.x} * tiles_of_block * tile_count;
  if (threadIdx.x >= 32)
    consume(pipe, tile, out + first, by);
  else if (threadIdx.x == 0)
    produce(pipe, tile, in + first);
}

}  // namespace

int main() {
  const std::size_t count = 16 << 18;
  std::vector<float> values(count), wanted(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = float(i % 8191);
    wanted[i] = values[i] * 3 + 1;
  }
  const float* in = device_copy(values);
  float* out = device_copy(std::vector<float>(count));
  const double seconds = seconds_of([&] {
    stream<<<count / tile_count / tiles_of_block, threads>>>(out, in, {3, 1});
  });
  return report("a warp that fetches, four that compute", 8.0 * count, seconds,
                host_copy(out, count) == wanted)
             ? 0
             : 1;
}
