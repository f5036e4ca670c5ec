// Includes the whole library in one of two translation units.
#include <inflight/inflight.cuh>

#include "kernels.cuh"

__global__ void row_sums(float* out, const float* in) {
  auto warp = inflight::tiled_partition<32>(inflight::this_thread_block());
  const float sum =
      inflight::reduce(warp, in[blockIdx.x * 32 + threadIdx.x], inflight::plus<float>());
  if (warp.thread_rank() == 0) out[blockIdx.x] = sum;
}

__global__ void second_row(float* out, const __grid_constant__ inflight::tile_map<tile> map) {
  __shared__ tile box;
  __shared__ inflight::barrier<> ready;
  if (threadIdx.x == 0) {
    ready.init(1);
    inflight::transaction copies(ready);
    inflight::copy_async(box, map, {0, 0}, copies);
    copies.arrive();
  }
  __syncthreads();
  ready.wait_parity(0);
  out[threadIdx.x] = box(1, threadIdx.x);
}
