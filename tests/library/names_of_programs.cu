// A program with `using namespace inflight`, as it had `using namespace cooperative_groups`, and
// with its own names: the library leaves common words to the program.
#include <inflight/inflight.cuh>

#include "tests/kernels/kernel_test.cuh"

using namespace inflight;

__device__ int phase, cache_size;
struct launch {
  int grid;
};
enum class cache { hot, cold };
struct coordinate {
  float x, y;
};
__device__ float transform(float x) { return 2 * x; }
__device__ void prefetch(int* into, coordinate at) { *into = int(at.x + at.y); }

__global__ void reduction(float* out) {
  auto block = this_thread_block();
  auto tile = tiled_partition<32>(block);
  const launch shape = {int(block.size())};
  const cache kind = cache::cold;
  if (block.thread_rank() == 0) prefetch(&phase, {1, 2});
  ptx::bar_sync(1, 64);
  const float sum = reduce(tile, transform(1), plus<float>());
  out[threadIdx.x] = kind == cache::cold ? sum + float(phase + shape.grid) : 0;
}

int main() {
  float* out;
  CHECK(cudaMallocManaged(&out, 64 * sizeof(float)));
  reduction<<<1, 64>>>(out);
  CHECK(cudaDeviceSynchronize());
  bool right = true;
  for (int i = 0; i < 64; ++i) right = right && out[i] == 64 + 3 + 64;
  std::printf("a program's own names: %s\n", right ? "right" : "WRONG");
}
