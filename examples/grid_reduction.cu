// A sum over 16 MiB in one cooperative launch: tiles reduce with cooperative groups, blocks through
// shared memory, the grid in two steps with a grid-wide barrier between them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "examples/example.cuh"

namespace cg = cooperative_groups;

namespace {

constexpr int threads = 256;

__device__ unsigned long long block_sum(cg::thread_block block, unsigned long long value) {
  __shared__ unsigned long long parts[threads / 32];
  auto warp = cg::tiled_partition<32>(block);
  value = cg::reduce(warp, value, cg::plus<unsigned long long>());
  if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = value;
  block.sync();
  unsigned long long sum = 0;
  for (unsigned long long part : parts) sum += part;
  block.sync();
  return sum;
}

__global__ void reduce(unsigned long long* result, unsigned long long* block_sums,
                       const unsigned* in, unsigned long long count) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  unsigned long long sum = 0;
  for (unsigned long long i = grid.thread_rank(); i < count; i += grid.size()) sum += in[i];
  sum = block_sum(block, sum);
  if (block.thread_rank() == 0) block_sums[blockIdx.x] = sum;
  grid.sync();
  if (blockIdx.x != 0) return;
  sum = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += block_sums[i];
  sum = block_sum(block, sum);
  if (threadIdx.x == 0) *result = sum;
}

}  // namespace

int main() {
  unsigned long long count = 4 << 20, right = 0;
  std::vector<unsigned> in(count);
  for (std::size_t i = 0; i < count; ++i) right += in[i] = unsigned(i * 2654435761u >> 7);
  unsigned* source = device_copy(in);

  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  int per_multiprocessor = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, reduce, threads, 0));
  int blocks = device.multiProcessorCount * (per_multiprocessor < 2 ? per_multiprocessor : 2);
  unsigned long long *result, *block_sums;
  CHECK(cudaMalloc(&result, sizeof *result));
  CHECK(cudaMalloc(&block_sums, blocks * sizeof *block_sums));

  void* arguments[] = {&result, &block_sums, &source, &count};
  double seconds = seconds_of([&] {
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(reduce), dim3(blocks),
                                      dim3(threads), arguments, 0, nullptr));
  });
  char what[64];
  std::snprintf(what, sizeof what, "reduction, %d blocks and a grid barrier", blocks);
  bool good =
      report(what, double(count) * sizeof(unsigned), seconds, host_copy(result, 1)[0] == right);
  return good ? 0 : 1;
}
