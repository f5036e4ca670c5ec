// options: --devices 2
#include <cstdio>
#include <inflight/multi_grid.cuh>

struct numbers {
  int* of[2];  // one of each GPU, in its own memory
};

// Every GPU leaves a number; behind the barrier of all, each reads the other's.
__global__ void exchange(inflight::multi_grid_handle handle, numbers all, int* seen) {
  auto grids = inflight::this_multi_grid(handle);
  const unsigned me = grids.grid_rank(), other = 1 - me;
  const bool first = inflight::this_grid().thread_rank() == 0;
  if (first) *all.of[me] = 100 + me;
  grids.sync();
  if (first) *seen = *all.of[other];
}

int main() {
  inflight::multi_grid_state state;  // peer access, and flags on each GPU
  cudaError_t error = state.init({0, 1});
  numbers all;
  std::vector<int*> seen(2);
  for (int gpu = 0; gpu < 2; ++gpu) {
    cudaSetDevice(gpu);
    cudaMalloc(&all.of[gpu], sizeof(int));
    cudaMallocManaged(&seen[gpu], sizeof(int));
  }
  if (error == cudaSuccess)  // 8 blocks of 128 threads on each; grid i gets seen[i]
    error =
        inflight::launch_multi_grid(state, exchange, 8, 128, 0, nullptr,
                                    inflight::multi_grid_handle{}, all, inflight::per_grid(seen));
  for (int gpu = 0; gpu < 2 && error == cudaSuccess; ++gpu) {
    cudaSetDevice(gpu);
    error = cudaDeviceSynchronize();
  }
  std::printf("%s: %d %d\n", cudaGetErrorString(error), *seen[0], *seen[1]);
}
