#include <cstdio>
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>
#include <inflight/transform.cuh>

struct halve {
  __device__ float operator()(int value) const { return 0.5f * value; }
};
struct add {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// Called with each tile in shared memory, by all 128 threads of a block together.
struct count_even {
  int* total;
  __device__ void operator()(const int* tile, std::size_t, int count) const {
    int even = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) even += tile[i] % 2 == 0;
    auto warp = inflight::tiled_partition<32>(inflight::this_thread_block());
    inflight::reduce_update_async(warp, *total, even, inflight::plus<int>());
  }
};

int main() {
  const std::size_t n = 1000003;
  int *in, *total;
  float *a, *b;
  cudaMallocManaged(&in, n * sizeof(int));
  cudaMallocManaged(&a, n * sizeof(float));
  cudaMallocManaged(&b, n * sizeof(float));
  cudaMallocManaged(&total, sizeof(int));
  for (std::size_t i = 0; i < n; ++i) in[i] = int(i);
  *total = 0;

  inflight::transform(a, in, n, halve{});
  inflight::transform(b, a, a, n, add{});
  inflight::for_each_tile(in, n, count_even{total});
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  std::printf("b[%zu] = %.0f, %d are even\n", n - 1, b[n - 1], *total);
}
