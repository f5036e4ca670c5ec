// arch: sm_80
// The C-like interface: __pipeline_memcpy_async with zero-fill, commit, wait_prior, arrive_on.
#include "tests/kernels/kernel_test.cuh"

#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>

__global__ void stages(int* out, const int* in, int n) {
  __shared__ __align__(16) int4 tile[3][32];
  int t = threadIdx.x, batches = n / 128, fetched = 0, sum = 0;
  for (int b = 0; b < batches; ++b) {
    for (; fetched < b + 3; ++fetched) {
      if (fetched < batches)
        __pipeline_memcpy_async(&tile[fetched % 3][t], (const int4*)in + fetched * 32 + t, 16);
      __pipeline_commit();
    }
    __pipeline_wait_prior(2);
    __syncwarp();
    int4 v = tile[b % 3][31 - t];
    sum = sum * 5 + v.x + 2 * v.y + 3 * v.z + 4 * v.w;
    __syncwarp();
  }
  out[t] = sum;
}

__global__ void zero_fill(int* out, const int* in) {
  __shared__ __align__(16) int tile[128];
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) tile[t * 4 + i] = -1;
  __pipeline_memcpy_async(tile + t * 4, in + t * 4, 16, t % 17);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = tile[t * 4 + i];
}

__global__ void arrive_on(int* out, const int* in) {
  __shared__ __mbarrier_t bar;
  __shared__ int tile[128];
  int t = threadIdx.x;
  if (t == 0) __mbarrier_init(&bar, 128);
  __syncthreads();
  for (int round = 0; round < 3; ++round) {
    __pipeline_memcpy_async(tile + t, in + round * 128 + t, 4);
    __pipeline_arrive_on(&bar);
    __mbarrier_token_t token = __mbarrier_arrive(&bar);
    while (!__mbarrier_test_wait(&bar, token)) {
    }
    out[round * 128 + t] = tile[t ^ 97];
    __syncthreads();
  }
  if (t == 0) {
    out[384] = __mbarrier_token_pending_count(__mbarrier_arrive_and_drop(&bar));
    __mbarrier_inval(&bar);
  }
}

int main() {
  std::vector<int> in(1280);
  for (int i = 0; i < 1280; ++i) in[i] = i * 31 % 1000;
  Buffer<int> source(in), a(32), b(128), c(385);
  stages<<<1, 32>>>(a, source, 1280);
  zero_fill<<<1, 32>>>(b, source);
  arrive_on<<<1, 128>>>(c, source);
  print("stages", a.read());
  print("zero_fill", b.read(), 32);
  print("arrive_on", c.read(), 32);
}
