// arch: compute_80
// Measures warps and blocks that wait for one another by polling memory, and atomics that look
// similar but wait for nothing. Prints the processor time of the best launch.
//   spins [REPETITIONS]
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

// Only barriers of the grid.
__global__ void grid_barriers(int rounds) {
  for (int i = 0; i < rounds; ++i) cooperative_groups::this_grid().sync();
}

// Each block waits for the previous one, in every round.
__global__ void chain_of_blocks(int rounds, volatile int* turn) {
  if (threadIdx.x != 0) return;
  for (int r = 0; r < rounds; ++r) {
    while (*turn != int(r * gridDim.x + blockIdx.x)) {
    }
    __threadfence();
    *turn = *turn + 1;
  }
}

// Each warp of a block waits for the previous one.
__global__ void chain_of_warps(int rounds, int* out) {
  __shared__ volatile int turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int r = 0; r < rounds; ++r) {
    while (turn != r * warps + warp) {
    }
    if (threadIdx.x % 32 == 0) turn = turn + 1;
    __syncwarp();
  }
  if (threadIdx.x == 0) *out = turn;
}

__global__ void histogram(const unsigned* in, int n, unsigned* bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i] % 256], 1u);
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "spins: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

double processor_time() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

}  // namespace

int main(int count, char** arguments) {
  const int repetitions = count > 1 ? std::atoi(arguments[1]) : 5;
  constexpr int elements = 1 << 18;
  int* memory;
  check(cudaMalloc(&memory, 4096 + elements * sizeof(int)), "cudaMalloc");
  check(cudaMemset(memory, 7, 4096 + elements * sizeof(int)), "cudaMemset");
  auto time = [&](const char* name, auto launch) {
    double best = 1e9;
    for (int i = 0; i < repetitions; ++i) {
      check(cudaMemset(memory, 0, 4096), name);
      const double begin = processor_time();
      launch();
      check(cudaDeviceSynchronize(), name);
      best = std::min(best, processor_time() - begin);
    }
    std::printf("%-32s %9.3f ms\n", name, best * 1e3);
  };
  auto cooperative = [](const void* kernel, int threads, void** arguments) {
    check(cudaLaunchCooperativeKernel(kernel, dim3(132), dim3(threads), arguments, 0, nullptr),
          "launch");
  };
  time("20 barriers of a grid", [&] {
    int rounds = 20;
    void* list[] = {&rounds};
    cooperative(reinterpret_cast<const void*>(grid_barriers), 128, list);
  });
  time("132 blocks in a chain, 5 times", [&] {
    int rounds = 5;
    void* list[] = {&rounds, &memory};
    cooperative(reinterpret_cast<const void*>(chain_of_blocks), 32, list);
  });
  time("16 warps in a chain, 100 times", [&] { chain_of_warps<<<1, 512>>>(100, memory); });
  time("a histogram of 2^18", [&] {
    histogram<<<64, 256>>>(reinterpret_cast<unsigned*>(memory) + 1024, elements,
                           reinterpret_cast<unsigned*>(memory));
  });
}
