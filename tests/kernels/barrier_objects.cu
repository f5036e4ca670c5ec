// arch: sm_80
// cuda::barrier: tokens, parity, separate arrive and wait, dropping out, completion functions,
// memcpy_async bound to it.
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
#include <new>
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void split(int* out) {
  __shared__ barrier bar;
  __shared__ int slot[96];
  int t = threadIdx.x;
  if (t == 0) init(&bar, 96);
  __syncthreads();
  int v = t;
  for (int i = 0; i < 6; ++i) {
    slot[t] = v;
    auto token = bar.arrive();
    int own = v * 2 + i;
    bar.wait(std::move(token));
    int other = slot[(t * 7 + 1) % 96];
    bar.arrive_and_wait();
    v = (own + other) % 10007;
  }
  out[t] = v;
}

__global__ void parity(int* out) {
  __shared__ barrier bar;
  __shared__ int value;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 1), value = 0;
  __syncthreads();
  for (int round = 0; round < 5; ++round) {
    if (t == 0) {
      value = round * round + 1;
      (void)bar.arrive();
    }
    bar.wait_parity(round & 1);
    out[round * 64 + t] = value;
    __syncthreads();
  }
}

// In each round one more warp drops out.
__global__ void drop(int* out) {
  __shared__ barrier bar;
  __shared__ int count;
  int t = threadIdx.x, warp = t / 32;
  if (t == 0) init(&bar, 128), count = 0;
  __syncthreads();
  for (int round = 0; round < 4; ++round) {
    atomicAdd(&count, 1);
    if (round == warp) {
      bar.arrive_and_drop();
      break;
    }
    bar.arrive_and_wait();
    out[round * 128 + t] = count;
    bar.arrive_and_wait();
  }
}

struct Completion {
  int* sum;
  int* phases;
  __device__ void operator()() {
    ++*phases;
    *sum = *sum * 2 + 1;
  }
};

__global__ void completion(int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block, Completion>;
  __shared__ alignas(Barrier) char storage[sizeof(Barrier)];
  __shared__ int sum, phases;
  auto* bar = reinterpret_cast<Barrier*>(storage);
  int t = threadIdx.x;
  if (t == 0) {
    sum = phases = 0;
    new (bar) Barrier(64, Completion{&sum, &phases});
  }
  __syncthreads();
  for (int i = 0; i < 5; ++i) {
    bar->arrive_and_wait();
    out[i * 64 + t] = sum * 100 + phases;
    __syncthreads();
  }
}

__global__ void copies(int* out, const int* in) {
  __shared__ barrier bar;
  __shared__ int tile[2][160];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  for (int i = 0; i < 4; ++i) {
    cuda::memcpy_async(block, tile[i & 1], in + i * 160, sizeof(int) * 160, bar);
    bar.arrive_and_wait();
    for (int k = threadIdx.x; k < 160; k += blockDim.x) out[i * 160 + k] = tile[i & 1][159 - k];
  }
}

int main() {
  std::vector<int> in(640);
  for (int i = 0; i < 640; ++i) in[i] = i * 17 % 701;
  Buffer<int> source(in), a(96), b(320), c(512), d(320), e(640);
  split<<<1, 96>>>(a);
  parity<<<1, 64>>>(b);
  drop<<<1, 128>>>(c);
  completion<<<1, 64>>>(d);
  copies<<<1, 64>>>(e, source);
  print("split", a.read());
  print("parity", b.read(), 64);
  print("drop", c.read(), 32);
  print("completion", d.read(), 64);
  print_checksum("copies", e.read());
}
