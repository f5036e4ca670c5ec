// arch: sm_80
// cuda::pipeline in its documented shapes: one stage, manually staged, unified, specialised roles,
// thread scope; with 1, 2, 3 and 8 stages.
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

__device__ void compute(int* out, const int* shared, int salt) {
  out[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x] * 3 + salt;
}

__global__ void one_stage(int* out, const int* in, int batches) {
  extern __shared__ int shared[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 1> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  for (int b = 0; b < batches; ++b) {
    int at = (b * gridDim.x + blockIdx.x) * blockDim.x;
    pipeline.producer_acquire();
    cuda::memcpy_async(block, shared, in + at, sizeof(int) * blockDim.x, pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
    compute(out + at, shared, b);
    pipeline.consumer_release();
  }
}

__global__ void by_hand(int* out, const int* in, int batches) {
  extern __shared__ int shared[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  auto at = [&](int b) { return (b * gridDim.x + blockIdx.x) * blockDim.x; };
  auto fetch = [&](int b) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, shared + b % 2 * blockDim.x, in + at(b), sizeof(int) * blockDim.x,
                       pipeline);
    pipeline.producer_commit();
  };
  auto consume = [&](int b) {
    pipeline.consumer_wait();
    compute(out + at(b), shared + b % 2 * blockDim.x, b);
    pipeline.consumer_release();
  };
  fetch(0);
  for (int b = 1; b < batches; ++b) {
    fetch(b);
    consume(b - 1);
  }
  consume(batches - 1);
}

template <int stages, cuda::thread_scope scope>
__global__ void unified(int* out, const int* in, int batches) {
  extern __shared__ int shared[];
  auto block = cg::this_thread_block();
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto pipeline = cuda::make_pipeline(block, &state);
  auto at = [&](int b) { return (b * gridDim.x + blockIdx.x) * blockDim.x; };
  for (int done = 0, fetched = 0; done < batches; ++done) {
    for (; fetched < batches && fetched < done + stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, shared + fetched % stages * blockDim.x, in + at(fetched),
                         sizeof(int) * blockDim.x, pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    compute(out + at(done), shared + done % stages * blockDim.x, done);
    pipeline.consumer_release();
  }
}

// Even threads produce, odd threads consume.
template <int stages>
__global__ void roles(int* out, const int* in, int batches) {
  extern __shared__ int shared[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x % 2 ? cuda::pipeline_role::consumer : cuda::pipeline_role::producer;
  auto pipeline = cuda::make_pipeline(block, &state, role);
  auto at = [&](int b) { return (b * gridDim.x + blockIdx.x) * blockDim.x; };
  if (role == cuda::pipeline_role::producer) {
    for (int b = 0; b < batches; ++b) {
      pipeline.producer_acquire();
      int* to = shared + b % stages * blockDim.x;
      for (unsigned i = threadIdx.x; i < threadIdx.x + 2; ++i)
        cuda::memcpy_async(to + i, in + at(b) + i, sizeof(int), pipeline);
      pipeline.producer_commit();
    }
  } else {
    for (int b = 0; b < batches; ++b) {
      pipeline.consumer_wait();
      const int* from = shared + b % stages * blockDim.x;
      for (unsigned i = threadIdx.x - 1; i <= threadIdx.x; ++i)
        out[at(b) + i] = from[blockDim.x - 1 - i] * 3 + b;
      pipeline.consumer_release();
    }
  }
}

template <int stages>
__global__ void own_thread(int* out, const int* in, int batches) {
  extern __shared__ int shared[];
  auto pipeline = cuda::make_pipeline();
  auto at = [&](int b) { return (b * gridDim.x + blockIdx.x) * blockDim.x; };
  for (int done = 0, fetched = 0; done < batches; ++done) {
    for (; fetched < batches && fetched < done + stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(shared + fetched % stages * blockDim.x + threadIdx.x,
                         in + at(fetched) + threadIdx.x, sizeof(int), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    __syncthreads();
    compute(out + at(done), shared + done % stages * blockDim.x, done);
    __syncthreads();
    pipeline.consumer_release();
  }
}

constexpr int threads = 64, blocks = 3, batches = 7, n = threads * blocks * batches;

template <class Kernel>
void run(const char* name, Kernel kernel, int stages, const std::vector<int>& in) {
  Buffer<int> source(in), out(n);
  kernel<<<blocks, threads, stages * threads * sizeof(int)>>>(out, source, batches);
  bool right = true;
  out.read();
  for (int i = 0; i < n; ++i) {
    int b = i / (threads * blocks), mirrored = i / threads * threads + threads - 1 - i % threads;
    right &= out.host[i] == in[mirrored] * 3 + b;
  }
  std::printf("%s with %d stages: %s\n", name, stages, right ? "right" : "wrong");
  print_checksum(name, out.host);
}

int main() {
  std::vector<int> in(n);
  Random random(9);
  for (int& v : in) v = random.next32() % 100000;
  run("one stage", one_stage, 1, in);
  run("by hand", by_hand, 2, in);
  run("unified", unified<1, cuda::thread_scope_block>, 1, in);
  run("unified", unified<2, cuda::thread_scope_block>, 2, in);
  run("unified", unified<3, cuda::thread_scope_block>, 3, in);
  run("unified", unified<8, cuda::thread_scope_block>, 8, in);
  run("roles", roles<1>, 1, in);
  run("roles", roles<2>, 2, in);
  run("roles", roles<4>, 4, in);
  run("own thread", own_thread<2>, 2, in);
  run("own thread", own_thread<5>, 5, in);
}
