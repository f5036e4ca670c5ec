#include <cstdio>
#include <inflight/collective_scratch.cuh>
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>
#include <inflight/scan.cuh>

constexpr int threads = 256;

// Keeps the even numbers, in their order, and finds the largest of each warp.
__global__ void keep_even(int* kept, int* how_many, int* most, const int* values) {
  auto block = inflight::this_thread_block();
  auto warp = inflight::tiled_partition<32>(block);
  const int value = values[threadIdx.x];

  const int of_warp = inflight::reduce(warp, value, inflight::greater<int>());
  if (warp.thread_rank() == 0) most[warp.meta_group_rank()] = of_warp;

  __shared__ inflight::block_scratch<int, threads> scratch;
  auto team = inflight::with_scratch(block, scratch);
  const int even = value % 2 == 0;
  const int place = inflight::exclusive_scan(team, even);
  if (even) kept[place] = value;
  const int total = inflight::reduce(team, even, inflight::plus<int>());
  if (threadIdx.x == 0) *how_many = total;
}

int main() {
  int *values, *kept, *most, *how_many;
  cudaMallocManaged(&values, threads * sizeof(int));
  cudaMallocManaged(&kept, threads * sizeof(int));
  cudaMallocManaged(&most, threads / 32 * sizeof(int));
  cudaMallocManaged(&how_many, sizeof(int));
  for (int i = 0; i < threads; ++i) values[i] = i * i % 251;
  keep_even<<<1, threads>>>(kept, how_many, most, values);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  std::printf("%d kept: %d %d %d ... %d\n", *how_many, kept[0], kept[1], kept[2],
              kept[*how_many - 1]);
  std::printf("largest of the warps: %d %d ... %d\n", most[0], most[1], most[7]);
}
