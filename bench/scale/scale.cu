// Measures the throughput of several software GPUs together: launches, arithmetic, copies and
// all_reduce, on the devices of this process and of other processes.
//
//   scale RANKS FIRST COUNT ID
//
// This process has COUNT of the RANKS, from number FIRST on, with a thread and a device for each.
// The processes connect through the file ID. Prints each phase's wall-clock time on the slowest
// device, and the process's peak memory.
#include <nccl.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/nccl/meeting.hpp"

namespace {

constexpr int launches = 2000, steps = 4000, blocks = 64, threads = 256, copies = 8, rounds = 5;
constexpr size_t copy_bytes = 64 << 20, small_count = 16 << 10, large_count = 1 << 20;

__global__ void nothing() {}
__global__ void multiply(float* out, float by) {
  float value = float(threadIdx.x);
  for (int i = 0; i < steps; ++i) value = value * by + 1.0f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

struct Times {  // seconds
  double launch, compute, copy, small_reduce, large_reduce;
};

template <class Work>
double seconds(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Times measure(const Job& job, int rank, const ncclUniqueId& id) {
  CHECK(cudaSetDevice(rank));
  ncclComm_t comm;
  cudaStream_t stream;
  CHECK(ncclCommInitRank(&comm, job.ranks, id, rank));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  float *memory, *values;
  void* host;
  CHECK(cudaMalloc(&memory, copy_bytes));
  CHECK(cudaMalloc(&values, large_count * sizeof(float)));
  CHECK(cudaMemset(values, 0, large_count * sizeof(float)));
  CHECK(cudaMallocHost(&host, copy_bytes));
  memset(host, 1, copy_bytes);
  const auto reduce = [&](size_t count) {
    CHECK(ncclAllReduce(values, values, count, ncclFloat, ncclSum, comm, stream));
    CHECK(cudaStreamSynchronize(stream));
  };
  // All devices start each phase together, after a warm-up.
  const auto phase = [&](auto warm, auto work) {
    warm();
    CHECK(cudaStreamSynchronize(stream));
    reduce(1);
    return seconds(work);
  };
  const auto launch = [&](int times) {
    for (int i = 0; i < times; ++i) nothing<<<1, 32, 0, stream>>>();
    CHECK(cudaStreamSynchronize(stream));
  };
  const auto compute = [&] {
    multiply<<<blocks, threads, 0, stream>>>(memory, 0.5f);
    CHECK(cudaStreamSynchronize(stream));
  };
  const auto copy = [&](int times) {
    for (int i = 0; i < times; ++i)
      CHECK(cudaMemcpyAsync(memory, host, copy_bytes, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
  };
  const auto reduces = [&](size_t count) {
    return [&, count] {
      for (int i = 0; i < rounds; ++i) reduce(count);
    };
  };
  Times times;
  times.launch = phase([&] { launch(10); }, [&] { launch(launches); });
  times.compute = phase(compute, compute);
  times.copy = phase([&] { copy(1); }, [&] { copy(copies); });
  times.small_reduce = phase([&] { reduce(small_count); }, reduces(small_count));
  times.large_reduce = phase([&] { reduce(large_count); }, reduces(large_count));
  CHECK(ncclCommDestroy(comm));
  return times;
}

}  // namespace

int main(int, char** words) {
  const Job job{atoi(words[1]), atoi(words[2]), atoi(words[3])};
  const ncclUniqueId id = meet(job, words[4]);
  std::vector<Times> times(job.count);
  std::vector<std::thread> devices;
  for (int k = 0; k < job.count; ++k)
    devices.emplace_back([&, k] { times[k] = measure(job, job.first + k, id); });
  for (std::thread& each : devices) each.join();
  const auto slowest = [&](double Times::*phase) {
    double longest = 0;
    for (const Times& each : times) longest = std::max(longest, each.*phase);
    return longest;
  };
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  constexpr double lane_steps = double(steps) * blocks * threads;
  printf(
      "%.3f us a launch, %.5f ns a lane's step, %.2f GB/s copied, all_reduce %.0f us of 64 KiB, "
      "%.0f us of 4 MiB, %ld MiB\n",
      slowest(&Times::launch) / launches * 1e6, slowest(&Times::compute) / lane_steps * 1e9,
      copies * copy_bytes / slowest(&Times::copy) / 1e9,
      slowest(&Times::small_reduce) / rounds * 1e6, slowest(&Times::large_reduce) / rounds * 1e6,
      usage.ru_maxrss / 1024);
  return 0;
}
