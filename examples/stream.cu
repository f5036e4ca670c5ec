// A stream of 64 MiB: out[i] = 3 in[i] + 1 and the sum of in[], by transform, by for_each_tile, and
// by a hand-written pipeline.
#include <inflight/inflight.cuh>

#include "examples/example.cuh"

namespace {

using inflight::thread_scope_block;

struct compute {
  __device__ unsigned operator()(unsigned value) const { return value * 3 + 1; }
};

// Called with each tile of 4 KiB in shared memory, by all threads of a block together.
struct sum_into {
  unsigned long long* total;
  __device__ void operator()(const unsigned* tile, std::size_t, int count) const {
    unsigned long long sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) sum += tile[i];
    auto warp = inflight::tiled_partition<32>(inflight::this_thread_block());
    inflight::reduce_update_async(warp, *total, sum, inflight::plus<unsigned long long>());
  }
};

constexpr int threads = 128, stages = 3, tile_count = 1024, tiles_of_block = 16;

// Every thread produces and consumes. A batch is a tile, and `stages` of them are in flight.
__global__ void __launch_bounds__(threads) by_hand(unsigned* out, const unsigned* in) {
  alignas(16) __shared__ unsigned tile[stages][tile_count];
  __shared__ inflight::pipeline_shared_state<thread_scope_block, stages> state;
  auto block = inflight::this_thread_block();
  auto pipe = inflight::make_pipeline(block, &state);
  const std::size_t first = std::size_t{blockIdx.x} * tiles_of_block * tile_count;
  in += first, out += first;
  for (int done = 0, fetched = 0; done < tiles_of_block; ++done) {
    for (; fetched < tiles_of_block && fetched < done + stages; ++fetched) {
      pipe.producer_acquire();
      inflight::memcpy_async(block, tile[pipe.producer_stage()], in + fetched * tile_count,
                             inflight::aligned_size_t<16>(sizeof tile[0]), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    const unsigned* from = tile[pipe.consumer_stage()];
    for (int i = threadIdx.x; i < tile_count; i += threads)
      out[done * tile_count + i] = compute{}(from[i]);
    pipe.consumer_release();
  }
}

}  // namespace

int main() {
  const std::size_t count = 64 << 18;
  std::vector<unsigned> values(count), wanted(count);
  unsigned long long wanted_sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = unsigned(i) * 2654435761u;
    wanted[i] = values[i] * 3 + 1;
    wanted_sum += values[i];
  }
  const unsigned* in = device_copy(values);
  unsigned* out = device_copy(std::vector<unsigned>(count));
  auto* total = device_copy(std::vector<unsigned long long>(1));
  bool right = true;

  double seconds = seconds_of([&] { CHECK(inflight::transform(out, in, count, compute{})); });
  right &= report("transform", 8.0 * count, seconds, host_copy(out, count) == wanted);

  seconds = seconds_of([&] { CHECK(inflight::for_each_tile(in, count, sum_into{total})); });
  right &=
      report("for_each_tile, a sum", 4.0 * count, seconds, host_copy(total, 1)[0] == wanted_sum);

  CHECK(cudaMemset(out, 0, 4 * count));
  seconds = seconds_of([&] { by_hand<<<count / tile_count / tiles_of_block, threads>>>(out, in); });
  right &= report("a pipeline by hand, three stages", 8.0 * count, seconds,
                  host_copy(out, count) == wanted);
  return right ? 0 : 1;
}
