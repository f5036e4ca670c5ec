// arch: sm_80
// cuda::pipeline in its five documented forms: one stage; two stages with prologue and epilogue;
// the same with both folded into the loop; producer and consumer threads; one thread's pipeline.
// Each block streams batches through shared memory. Checks out[i] = in[i] * 3 + 1 on the host.
#include <cooperative_groups.h>

#include <cuda/pipeline>

#include "examples/example.cuh"

namespace cg = cooperative_groups;

namespace {

constexpr int threads = 128, blocks = 32, batches = 64;
constexpr std::size_t count = std::size_t(threads) * blocks * batches;
constexpr std::size_t batch_bytes = sizeof(int) * threads;

// Index of the first element of this block's part of a batch.
__device__ std::size_t part(int batch) {
  return (std::size_t(batch) * gridDim.x + blockIdx.x) * blockDim.x;
}

__device__ void compute(int* out, const int* shared) {
  out[threadIdx.x] = shared[threadIdx.x] * 3 + 1;
}

__global__ void single_stage(int* out, const int* in) {
  __shared__ int buffer[threads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  for (int batch = 0; batch < batches; ++batch) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, buffer, in + part(batch), batch_bytes, pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    compute(out + part(batch), buffer);
    pipeline.consumer_release();
  }
}

__global__ void two_stages(int* out, const int* in) {
  __shared__ int buffer[2][threads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  auto produce = [&](int batch) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, buffer[batch % 2], in + part(batch), batch_bytes, pipeline);
    pipeline.producer_commit();
  };
  auto consume = [&](int batch) {
    pipeline.consumer_wait();
    compute(out + part(batch), buffer[batch % 2]);
    pipeline.consumer_release();
  };
  produce(0);
  for (int batch = 1; batch < batches; ++batch) {
    produce(batch);
    consume(batch - 1);
  }
  consume(batches - 1);
}

template <int stages>
__global__ void unified(int* out, const int* in) {
  __shared__ int buffer[stages][threads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  for (int done = 0, fetched = 0; done < batches; ++done) {
    for (; fetched < batches && fetched < done + stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % stages], in + part(fetched), batch_bytes,
                         pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    compute(out + part(done), buffer[done % stages]);
    pipeline.consumer_release();
  }
}

// The first half of the threads copies, two elements each; the second half computes.
template <int stages>
__global__ void specialised(int* out, const int* in) {
  __shared__ int buffer[stages][threads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  const int half = threads / 2, rank = threadIdx.x % half;
  const bool producer = int(threadIdx.x) < half;
  auto pipeline = cuda::make_pipeline(
      block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  for (int batch = 0; batch < batches; ++batch) {
    int* tile = buffer[batch % stages];
    if (producer) {
      pipeline.producer_acquire();
      for (int i = rank; i < threads; i += half)
        cuda::memcpy_async(tile + i, in + part(batch) + i, sizeof(int), pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      for (int i = rank; i < threads; i += half) out[part(batch) + i] = tile[i] * 3 + 1;
      pipeline.consumer_release();
    }
  }
}

// Each thread has its own pipeline, without shared state and without waiting for other threads.
template <int stages>
__global__ void one_thread(int* out, const int* in) {
  __shared__ int buffer[stages][threads];
  auto pipeline = cuda::make_pipeline();
  for (int done = 0, fetched = 0; done < batches; ++done) {
    for (; fetched < batches && fetched < done + stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&buffer[fetched % stages][threadIdx.x], in + part(fetched) + threadIdx.x,
                         sizeof(int), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    compute(out + part(done), buffer[done % stages]);
    pipeline.consumer_release();
  }
}

using Kernel = void (*)(int*, const int*);

bool run(const char* what, Kernel kernel, const int* source, int* target,
         const std::vector<int>& right) {
  CHECK(cudaMemset(target, 0, count * sizeof(int)));
  double seconds = seconds_of([&] { kernel<<<blocks, threads>>>(target, source); });
  return report(what, 2.0 * count * sizeof(int), seconds, host_copy(target, count) == right);
}

}  // namespace

int main() {
  std::vector<int> in(count), right(count);
  for (std::size_t i = 0; i < count; ++i) right[i] = (in[i] = int(i % 100003)) * 3 + 1;
  int* source = device_copy(in);
  int* target;
  CHECK(cudaMalloc(&target, count * sizeof(int)));
  bool all = true;
  all &= run("cuda::pipeline, one stage", single_stage, source, target, right);
  all &= run("cuda::pipeline, two stages", two_stages, source, target, right);
  all &= run("cuda::pipeline, four stages, unified loop", unified<4>, source, target, right);
  all &= run("cuda::pipeline, producers and consumers", specialised<2>, source, target, right);
  all &= run("cuda::pipeline, one thread's own, two stages", one_thread<2>, source, target, right);
  return all ? 0 : 1;
}
