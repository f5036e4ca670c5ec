// arch: sm_90a
#include <cstdio>
#include <inflight/groups.cuh>
#include <inflight/launch.cuh>

// Every block leaves its number; behind the grid's barrier the first thread adds them up.
__global__ void grid_sum(int* of_block, int* total) {
  auto grid = inflight::this_grid();
  if (threadIdx.x == 0) of_block[blockIdx.x] = blockIdx.x + 1;
  grid.sync();
  if (grid.thread_rank() == 0)
    for (unsigned i = 0; i < gridDim.x; ++i) *total += of_block[i];
}

// Each block of a cluster reads what its right neighbour has in shared memory.
__global__ void neighbours(int* out) {
  __shared__ int mine;
  auto cluster = inflight::this_cluster();
  const unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
  if (threadIdx.x == 0) mine = 10 * rank;
  cluster.sync();
  if (threadIdx.x == 0) out[rank] = *cluster.map_shared_rank(&mine, next);
  cluster.sync();  // nobody leaves while others read its memory
}

int main() {
  int *numbers, *total;
  cudaMallocManaged(&numbers, 4096 * sizeof(int));
  cudaMallocManaged(&total, sizeof(int));
  *total = 0;
  unsigned blocks = 0;
  inflight::full_grid(&blocks, grid_sum, 1024);
  cudaError_t error = inflight::launch_cooperative(grid_sum, inflight::whole_device, 1024, 0,
                                                   nullptr, numbers, total);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  std::printf("whole device: %s, %s\n", cudaGetErrorString(error),
              unsigned(*total) == blocks * (blocks + 1) / 2 ? "right" : "wrong");

  error = inflight::launch_cooperative(grid_sum, blocks + 1, 1024, 0, nullptr, numbers, total);
  std::printf("one block more: %s\n", cudaGetErrorName(error));

  error = inflight::launch_cluster(neighbours, 4, 4, 32, 0, nullptr, numbers);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  std::printf("cluster: %s, %d %d %d %d\n", cudaGetErrorString(error), numbers[0], numbers[1],
              numbers[2], numbers[3]);
}
