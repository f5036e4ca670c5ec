#include <cstdio>
#include <inflight/copy.cuh>

constexpr int threads = 128, tiles = 8, count = 4 * threads;

// Each tile is written back in reverse. While one is used, the next is on its way.
__global__ void reverse(int* out, const int* in) {
  alignas(16) __shared__ int tile[2][count];
  const int mine = 4 * threadIdx.x;  // 16 bytes of each tile
  auto fetch = [&](int i) {
    if (i < tiles) inflight::cp_async<16>(&tile[i % 2][mine], in + i * count + mine);
    inflight::cp_async_commit();  // an empty group at the end keeps the count right
  };
  fetch(0);
  for (int i = 0; i < tiles; ++i) {
    fetch(i + 1);
    inflight::cp_async_wait<1>();  // all but the newest group: this thread's part of tile i
    __syncthreads();               // and everybody else's
    for (int k = threadIdx.x; k < count; k += threads)
      out[i * count + k] = tile[i % 2][count - 1 - k];
    __syncthreads();  // all have read it before it is filled again
  }
}

int main() {
  int *in, *out;
  cudaMallocManaged(&in, tiles * count * sizeof(int));
  cudaMallocManaged(&out, tiles * count * sizeof(int));
  for (int i = 0; i < tiles * count; ++i) in[i] = i;
  reverse<<<1, threads>>>(out, in);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  int wrong = 0;
  for (int i = 0; i < tiles * count; ++i)
    wrong += out[i] != i / count * count + count - 1 - i % count;
  std::printf("%d of %d elements wrong\n", wrong, tiles * count);
}
