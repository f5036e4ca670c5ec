// Bulk copies in all four directions, with both completion mechanisms.
// async: late early shuffled:1
#include "tests/kernels/kernel_test.cuh"

#include <cooperative_groups.h>
#include "tests/kernels/part/bulk.cuh"
namespace cg = cooperative_groups;

// A stream through `stages` buffers: bulk loads, work in place, bulk stores.
template <int stages, int tile>
__global__ void stream(const int* in, int* out, int tiles) {
  __shared__ alignas(128) int buffer[stages][tile];
  __shared__ alignas(8) uint64_t full[stages];
  if (threadIdx.x == 0)
    for (auto& bar : full) init(shared_address(&bar), 1);
  __syncthreads();
  const int mine = (tiles - int(blockIdx.x) + int(gridDim.x) - 1) / int(gridDim.x);
  auto at = [&](int i) { return size_t(blockIdx.x + i * gridDim.x) * tile; };
  auto fetch = [&](int i) {
    const uint32_t bar = shared_address(&full[i % stages]);
    expect(bar, tile * 4);
    load(shared_address(buffer[i % stages]), in + at(i), tile * 4, bar);
  };
  if (threadIdx.x == 0)
    for (int i = 0; i < stages - 1 && i < mine; ++i) fetch(i);
  for (int i = 0; i < mine; ++i) {
    wait(shared_address(&full[i % stages]), i / stages & 1);
    for (int k = threadIdx.x; k < tile; k += blockDim.x)
      buffer[i % stages][k] = buffer[i % stages][k] * 3 + 1;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
      store(out + at(i), shared_address(buffer[i % stages]), tile * 4);
      commit();
      wait_read<1>();
      if (i + stages - 1 < mine) fetch(i + stages - 1);
    }
  }
  if (threadIdx.x == 0) wait_group<0>();
}

// Each block copies its tile to the next one of the cluster, in several rounds.
__global__ void ring(int* out, int rounds) {
  __shared__ alignas(128) int tile[2][64];
  __shared__ alignas(8) uint64_t arrived[2];
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
  if (threadIdx.x == 0)
    for (auto& bar : arrived) init(shared_address(&bar), 1);
  tile[0][threadIdx.x] = 1000 * rank + threadIdx.x;
  fence_async();
  cluster.sync();
  for (int r = 0; r < rounds; ++r) {
    const int from = r & 1, to = from ^ 1;
    if (threadIdx.x == 0) {
      expect(shared_address(&arrived[to]), 256);
      copy(map_rank(shared_address(tile[to]), next), shared_address(tile[from]), 256,
           map_rank(shared_address(&arrived[to]), next));
    }
    wait(shared_address(&arrived[to]), r >> 1 & 1);
    tile[to][threadIdx.x] += 1;
    fence_async();
    cluster.sync();
  }
  out[blockIdx.x * 64 + threadIdx.x] = tile[rounds & 1][threadIdx.x];
}

// One block fetches for all: multicast masks, with the same offsets in every block.
__global__ void multicast(const int* in, int* out) {
  __shared__ alignas(128) int tile[128];
  __shared__ alignas(8) uint64_t bar;
  auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), count = cluster.num_blocks();
  tile[threadIdx.x] = tile[threadIdx.x + 64] = -1;
  if (threadIdx.x == 0) init(shared_address(&bar), 1);
  fence_async();
  cluster.sync();
  // Block r sends piece r to the blocks of the mask: all, every second, itself only...
  const uint16_t masks[4] = {0xff, 0x55, 0x81, 0x0e};
  if (threadIdx.x == 0) {
    int pieces = 0;
    for (unsigned r = 0; r < 4 && r < count; ++r) pieces += masks[r] >> rank & 1;
    expect(shared_address(&bar), 128 * pieces);
    if (rank < 4)
      load_multicast(shared_address(tile + 32 * rank), in + 32 * rank, 128, shared_address(&bar),
                     masks[rank] & ((1 << count) - 1));
    wait(shared_address(&bar), 0);
  }
  cluster.sync();
  out[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x];
  out[blockIdx.x * 128 + threadIdx.x + 64] = tile[threadIdx.x + 64];
}

// Sizes from 0 to 256 bytes, empty groups, late waits, and several threads.
__global__ void groups(const int* in, int* out) {
  __shared__ alignas(128) int tile[4][64];
  __shared__ alignas(8) uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) init(shared_address(&bar), 4);
  __syncthreads();
  if (t < 4) {
    expect(shared_address(&bar), 256);
    load(shared_address(tile[t]), in + 64 * t, 256, shared_address(&bar));
  }
  wait(shared_address(&bar), 0);
  if (t < 4) {
    for (int g = 0; g < 5; ++g) {
      store(out + 320 * t + 64 * g, shared_address(tile[t]), 64 * g);
      commit();
      if (g == 2) commit();
    }
    wait_group<2>();
    wait_read<0>();
    wait_group<0>();
  }
}

template <class... P, class... A>
void launch(void (*kernel)(P...), int blocks, int cluster, int threads, A&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks, config.blockDim = threads;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {unsigned(cluster), 1, 1};
  config.attrs = &attribute, config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...));
}

int main() {
  constexpr int tile = 512, tiles = 37;
  std::vector<int> numbers(tile * tiles);
  Random random(3);
  for (int& v : numbers) v = int(random.next32() >> 8);
  Buffer<int> in(numbers), out(tile * tiles);
  launch(stream<4, tile>, 5, 1, 96, in, out, tiles);
  out.read();
  int wrong = 0;
  for (int i = 0; i < tile * tiles; ++i) wrong += out.host[i] != numbers[i] * 3 + 1;
  std::printf("stream: %d wrong\n", wrong);
  for (int cluster : {1, 2, 4, 8}) {
    Buffer<int> round(8 * 64), cast(8 * 128);
    launch(ring, 8, cluster, 64, round, 5);
    launch(multicast, 8, cluster, 64, in, cast);
    std::printf("clusters of %d\n", cluster);
    print_checksum("  ring", round.read());
    print_checksum("  multicast", cast.read());
  }
  Buffer<int> grouped(1280);
  launch(groups, 1, 1, 32, in, grouped);
  print_checksum("groups", grouped.read());
}
