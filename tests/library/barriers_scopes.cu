// Barriers of device, system and thread scope, on the GPU and on the host, and completion
// functions.
#include <chrono>
#include <cuda/std/chrono>
#include <inflight/barrier.cuh>
#include <inflight/groups.cuh>
#include <inflight/memcpy_async.cuh>
#include <new>
#include <thread>

#include "tests/kernels/kernel_test.cuh"

namespace {

using device_barrier = inflight::barrier<inflight::thread_scope_device>;
using system_barrier = inflight::barrier<inflight::thread_scope_system>;

constexpr int blocks = 4, threads = 64, rounds = 3;

struct add_to {
  int* at;
  __host__ __device__ void operator()() const { *at += 10; }
};

// All threads of the grid; one leaves after each round.
__global__ void rounds_of_grid(device_barrier* all, int* counts, int* out) {
  const int rank = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = 0; i < rounds; ++i) {
    atomicAdd(&counts[i], 1);
    const auto token = all->arrive();
    all->wait(token);
    if (rank == rounds) out[i] = counts[i];
    if (rank == i) {
      all->arrive_and_drop();
      return;
    }
    all->arrive_and_wait();
  }
}

// The last thread of a block calls the function, which all see after the wait.
__global__ void completions(int* out) {
  using completing = inflight::barrier<inflight::thread_scope_block, add_to>;
  __shared__ completing done;
  __shared__ int sum;
  if (threadIdx.x == 0) {
    sum = 0;
    init(&done, blockDim.x, add_to{&sum});
  }
  __syncthreads();
  bool right = done.try_wait_parity(true) && !done.test_parity(0);
  for (int i = 1; i <= 5; ++i) {
    const auto token = done.arrive();
    done.wait(token);
    right &= sum == 20 * i - 10 && done.test(token);
    done.arrive_and_wait();
  }
  out[threadIdx.x] = right;
}

// A copy cannot complete on such a barrier, so it is complete at once.
__global__ void copied(device_barrier* done, int* out, const int* in) {
  __shared__ int tile[threads];
  const auto block = inflight::this_thread_block();
  const auto told = inflight::memcpy_async(block, tile, in, sizeof tile, *done);
  done->arrive_and_wait();
  const bool complete = told == inflight::async_contract_fulfillment::none;
  out[threadIdx.x] = complete ? tile[threads - 1 - threadIdx.x] : -1;
}

__global__ void make(device_barrier* at, int arrivals) { new (at) device_barrier(arrivals); }

// One thread alone, and a wait that gives up.
__global__ void alone(int* out) {
  inflight::barrier<inflight::thread_scope_thread> mine(2);
  const auto token = mine.arrive();
  out[0] = mine.try_wait_for(token, cuda::std::chrono::nanoseconds(100));
  (void)mine.arrive();
  out[1] = mine.try_wait_for(token, cuda::std::chrono::nanoseconds(100));
}

void on_host() {
  int sum = 0;
  inflight::barrier<inflight::thread_scope_system, add_to> both(2, add_to{&sum});
  bool right = true;
  auto meet = [&] {
    for (int i = 1; i <= 100; ++i) {
      both.arrive_and_wait();
      right &= sum == 20 * i - 10;
      both.arrive_and_wait();
    }
  };
  std::thread other(meet);
  for (int i = 0; i < 200; ++i) both.arrive_and_wait();
  other.join();
  system_barrier late(2);
  const auto token = late.arrive();
  right &= !late.try_wait_for(token, std::chrono::milliseconds(1));
  right &= !late.try_wait_parity_until(false, std::chrono::system_clock::now());
  late.arrive_and_drop();
  right &= late.test(token);
  late.arrive_and_wait();
  std::printf("host: %s, %d\n", right ? "right" : "WRONG", sum);
}

}  // namespace

int main() {
  device_barrier* all;
  int *out, *in;
  cudaMalloc(&all, sizeof *all);
  cudaMallocManaged(&out, 1024);
  cudaMallocManaged(&in, 1024);
  make<<<1, 1>>>(all, blocks * threads);
  rounds_of_grid<<<blocks, threads>>>(all, in, out);
  cudaError_t error = cudaDeviceSynchronize();
  std::printf("grid: %d %d %d, %s\n", out[0], out[1], out[2], cudaGetErrorString(error));

  completions<<<1, threads>>>(out);
  error = cudaDeviceSynchronize();
  int right = 0;
  for (int i = 0; i < threads; ++i) right += out[i];
  std::printf("completion functions: %d threads right, %s\n", right, cudaGetErrorString(error));

  for (int i = 0; i < threads; ++i) in[i] = 5 * i;
  make<<<1, 1>>>(all, threads);
  copied<<<1, threads>>>(all, out, in);
  error = cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < threads; ++i) wrong += out[i] != in[threads - 1 - i];
  std::printf("copy: %d wrong, %s\n", wrong, cudaGetErrorString(error));

  alone<<<1, 1>>>(out);
  error = cudaDeviceSynchronize();
  std::printf("alone: %d %d, %s\n", out[0], out[1], cudaGetErrorString(error));
  on_host();
}
