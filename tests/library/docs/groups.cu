#include <cstdio>
#include <inflight/groups.cuh>

// Each tile of eight threads finds the largest of its values.
__global__ void largest(int* of_tile, const int* values) {
  auto block = inflight::this_thread_block();
  auto tile = inflight::tiled_partition<8>(block);
  int most = values[block.thread_rank()];
  for (unsigned ranks = tile.size() / 2; ranks > 0; ranks /= 2)
    most = max(most, tile.shfl_xor(most, ranks));
  if (tile.thread_rank() == 0) of_tile[tile.meta_group_rank()] = most;
}

// Counts keys with one atomic addition for each different key of a warp.
__global__ void count(int* of_key, const int* keys) {
  auto warp = inflight::tiled_partition<32>(inflight::this_thread_block());
  const int key = keys[threadIdx.x];
  auto same = inflight::labeled_partition(warp, key);
  inflight::invoke_one(same, [&] { atomicAdd(&of_key[key], int(same.size())); });
}

int main() {
  int *values, *tiles, *keys;
  cudaMallocManaged(&values, 64 * sizeof(int));
  cudaMallocManaged(&tiles, 8 * sizeof(int));
  cudaMallocManaged(&keys, 3 * sizeof(int));
  for (int i = 0; i < 64; ++i) values[i] = i * 37 % 64;
  largest<<<1, 64>>>(tiles, values);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; ++i) std::printf("tile %d: %d\n", i, tiles[i]);

  for (int i = 0; i < 64; ++i) values[i] = i * i % 3;
  for (int i = 0; i < 3; ++i) keys[i] = 0;
  count<<<1, 64>>>(keys, values);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  for (int i = 0; i < 3; ++i) std::printf("key %d: %d\n", i, keys[i]);
}
