// arch: sm_90a
// A pipeline filled by bulk copies: one thread produces, either among consumers or in its own warp,
// and bulk stores write the data back.
#include <inflight/inflight.cuh>
#include <inflight/ptx/block_barrier.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace {

constexpr int threads = 96, stages = 3, batches = 10, count = 256;

// All threads consume; thread 0 also produces.
__global__ void unified(int* out, const int* in) {
  alignas(128) __shared__ int tile[stages][count];
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, stages> state;
  auto block = inflight::this_thread_block();
  auto pipe = inflight::make_pipeline<inflight::transaction_bytes>(block, &state);
  for (int done = 0, fetched = 0; done < batches; ++done) {
    if (block.thread_rank() == 0)
      for (; fetched < batches && fetched < done + stages; ++fetched) {
        pipe.producer_acquire();
        inflight::memcpy_async(tile[pipe.producer_stage()], in + fetched * count, sizeof tile[0],
                               pipe);
        pipe.producer_commit();
      }
    pipe.consumer_wait();
    for (int i = threadIdx.x; i < count; i += threads)
      out[done * count + i] = tile[pipe.consumer_stage()][i] * 3 + 1;
    pipe.consumer_release();
  }
}

// One thread of the producer warp issues two copies a stage. The others consume in place, and one
// of them stores.
__global__ void specialised(int* out, const int* in) {
  alignas(128) __shared__ int tile[stages][count];
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, stages> state;
  auto block = inflight::this_thread_block();
  const bool produces = threadIdx.x < 32;
  auto pipe = inflight::make_pipeline<inflight::transaction_bytes>(
      block, &state,
      produces ? inflight::pipeline_role::producer : inflight::pipeline_role::consumer);
  if (threadIdx.x == 0) {
    for (int b = 0; b < batches; ++b) {
      pipe.producer_acquire();
      int* to = tile[pipe.producer_stage()];
      pipe.copies().load(to, in + b * count, sizeof tile[0] / 2);
      pipe.copies().load(to + count / 2, in + b * count + count / 2, sizeof tile[0] / 2);
      pipe.producer_commit();
    }
  } else if (!produces) {
    for (int b = 0; b < batches; ++b) {
      pipe.consumer_wait();
      int* mine = tile[pipe.consumer_stage()];
      for (int i = threadIdx.x - 32; i < count; i += threads - 32) mine[i] = mine[i] * 3 + 1;
      inflight::release_to_async();
      inflight::ptx::bar_sync(1, threads - 32);
      if (threadIdx.x == 32) {
        inflight::bulk_store(out + b * count, mine, sizeof tile[0]);
        inflight::bulk_commit();
        inflight::bulk_wait_read<0>();
      }
      pipe.consumer_release();
    }
    if (threadIdx.x == 32) inflight::bulk_wait<0>();
  }
}

template <class Kernel>
void check(const char* name, Kernel kernel, const std::vector<int>& source) {
  Buffer<int> in(source), out(source.size());
  kernel<<<1, threads>>>(out, in);
  out.read();
  bool right = true;
  for (std::size_t i = 0; i < source.size(); ++i) right &= out.host[i] == source[i] * 3 + 1;
  std::printf("%s: %s\n", name, right ? "right" : "WRONG");
}

}  // namespace

int main() {
  std::vector<int> source(batches * count);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = int(i * 5);
  check("unified", unified, source);
  check("specialised", specialised, source);
}
