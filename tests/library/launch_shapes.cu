// Launches: arguments of all kinds, cooperative grids, whole devices, and launches that fail.
#include <inflight/groups.cuh>
#include <inflight/launch.cuh>

#include "tests/kernels/kernel_test.cuh"

namespace cg = inflight;

struct Pair {
  double a;
  int b;
};

__global__ void arguments(double* out, const float* in, char c, Pair pair, unsigned long long big) {
  if (cg::this_grid().thread_rank() == 0) *out = c + pair.a + pair.b + double(big) + in[1];
}

__global__ void nothing() {}

__global__ void count(unsigned* blocks) {
  if (threadIdx.x == 0) atomicAdd(blocks, 1);
  cg::this_grid().sync();
  if (threadIdx.x == 0 && blocks[0] != gridDim.x) atomicAdd(blocks + 1, 1);
}

extern __shared__ int shared[];
__global__ void large(int* out, int last) {
  shared[last] = 7;
  cg::this_thread_block().sync();
  if (threadIdx.x == 0) *out = shared[last];
}

int main() {
  Buffer<double> sum(1);
  Buffer<float> in(std::vector<float>{1, 2.5f});
  cg::launch_shape shape;
  shape.grid = 2, shape.block = 64;
  CHECK(cg::launch_kernel(arguments, shape, sum, in, 'A', Pair{0.25, 3}, 1 << 20));
  std::printf("arguments: %g\n", sum.read()[0]);
  SAY(cg::launch_kernel(nothing, shape));
  SAY(cg::launch_cooperative(nothing, dim3(2, 3), dim3(4, 4, 4), 0, nullptr));

  unsigned full = 0, other = 0;
  int multiprocessors = 0;
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cg::full_grid(&full, count, 1024));
  CHECK(cg::full_grid(&other, count, 1024, 120 * 1024));
  std::printf("blocks of 1024 an SM: %u; with 120 KiB each: %u\n", full / multiprocessors,
              other / multiprocessors);
  Buffer<unsigned> blocks(2);
  CHECK(cg::launch_cooperative(count, cg::whole_device, 1024, 0, nullptr, blocks));
  blocks.read();
  std::printf("the whole device: %s, %u blocks saw too few\n",
              blocks.host[0] == full ? "right" : "WRONG", blocks.host[1]);
  SAY(cg::launch_cooperative(count, full + 1, 1024, 0, nullptr, blocks));
  cudaGetLastError();

  Buffer<int> out(1);
  shape.grid = 1, shape.shared = 100 * 1024;
  CHECK(cg::launch_kernel(large, shape, out, 25 * 1024 - 1));
  std::printf("100 KiB of shared memory: %d\n", out.read()[0]);
}
