#include <cstdio>
#include <inflight/groups.cuh>
#include <inflight/pipeline.cuh>

constexpr int threads = 128, stages = 3, batches = 10, count = 512;

// Adds up the tiles of a row, tile by tile, with up to three of them on their way.
__global__ void add_tiles(int* sum, const int* in) {
  alignas(16) __shared__ int tile[stages][count];
  __shared__ inflight::pipeline_shared_state<inflight::thread_scope_block, stages> state;
  auto block = inflight::this_thread_block();
  auto pipe = inflight::make_pipeline(block, &state);

  int part[count / threads] = {};
  for (int used = 0, fetched = 0; used < batches; ++used) {
    for (; fetched < batches && fetched < used + stages; ++fetched) {
      pipe.producer_acquire();  // until the stage is free
      inflight::memcpy_async(block, tile[pipe.producer_stage()], in + fetched * count,
                             inflight::aligned_size_t<16>(sizeof tile[0]), pipe);
      pipe.producer_commit();  // full when these copies are done
    }
    pipe.consumer_wait();  // until the oldest stage is full
    for (int i = 0; i < count / threads; ++i)
      part[i] += tile[pipe.consumer_stage()][i * threads + threadIdx.x];
    pipe.consumer_release();  // this thread has used it
  }
  for (int i = 0; i < count / threads; ++i) sum[i * threads + threadIdx.x] = part[i];
}

int main() {
  int *in, *sum;
  cudaMallocManaged(&in, batches * count * sizeof(int));
  cudaMallocManaged(&sum, count * sizeof(int));
  for (int i = 0; i < batches * count; ++i) in[i] = i;
  add_tiles<<<1, threads>>>(sum, in);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += sum[i] != batches * i + count * batches * (batches - 1) / 2;
  std::printf("%d of %d sums wrong\n", wrong, count);
}
