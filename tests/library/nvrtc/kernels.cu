// Kernels that NVRTC compiles. Each uses one part of the library, with only the library on the
// include path. program.cu has the expected results.
#include <inflight/inflight.cuh>

using namespace inflight;  // must not change the meaning of std::

constexpr int threads = 128;

extern "C" __global__ void groups(int* out, const int* in) {
  const auto block = this_thread_block();
  const auto tile = tiled_partition<8>(block);
  const thread_group part = tiled_partition(block, 16);
  const auto odd = binary_partition(tile, in[block.thread_rank()] & 1);
  int value = tile.shfl_xor(in[block.thread_rank()], 1);
  block.sync();
  out[block.thread_rank()] = std::move(value) * 100 + int(odd.size() + part.thread_rank());
}

extern "C" __global__ void collectives(int* out, const int* in) {
  __shared__ block_scratch<int, threads> scratch;
  const auto block = this_thread_block();
  const int value = in[threadIdx.x];
  const auto wide = tiled_partition<64>(block);
  const auto team = with_scratch(block, scratch);
  int result = reduce(tiled_partition<32>(block), value, plus<int>());
  result += inclusive_scan(wide, value, [](int a, int b) { return a + b; });
  result += reduce(team, value, greater<int>());
  result += int(reduce(tiled_partition<4>(block), float(value), less<float>()));
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 1000;
  block.sync();
  out[threadIdx.x] = result + exclusive_scan_update(team, counter, value);
}

// Four blocks: each writes, all wait at the grid's barrier, each reads what another wrote.
extern "C" __global__ void grid(int* out, const int* in) {
  const auto all = this_grid();
  const unsigned rank = unsigned(all.thread_rank()), count = unsigned(all.num_threads());
  out[count + rank] = in[rank] + int(all.thread_index().x);
  all.sync();
  out[rank] = out[count + (rank + threads) % count];
}

extern "C" __global__ void copies(int* out, const int* in) {
  alignas(16) __shared__ int tile[2][threads];
  if (threadIdx.x < threads / 4) cp_async<16>(&tile[0][4 * threadIdx.x], in + 4 * threadIdx.x);
  cp_async_commit();
  pipeline_memcpy_async(&tile[1][threadIdx.x], in + threads + threadIdx.x, 4);
  pipeline_commit();
  cp_async_wait<0>();
  __syncthreads();
  out[threadIdx.x] = tile[0][threads - 1 - threadIdx.x] - tile[1][threadIdx.x];
}

extern "C" __global__ void group_copies(int* out, const int* in) {
  __shared__ int tile[threads];
  const auto block = this_thread_block();
  memcpy_async(block, tile, in, sizeof tile);
  wait(block);
  out[threadIdx.x] = tile[threads - 1 - threadIdx.x];
}

extern "C" __global__ void barriers(int* out, const int* in) {
  __shared__ int tile[threads];
  __shared__ barrier<> ready;
  const auto block = this_thread_block();
  if (block.thread_rank() == 0) init(&ready, block.size());
  block.sync();
  memcpy_async(block, tile, in, sizeof tile, ready);
  auto token = ready.arrive();
  ready.wait(std::move(token));
  out[threadIdx.x] = tile[threads - 1 - threadIdx.x];
}

extern "C" __global__ void pipelines(int* out, const int* in) {
  constexpr int stages = 2, batches = 4;
  alignas(16) __shared__ int tile[stages][threads];
  __shared__ pipeline_shared_state<thread_scope_block, stages> state;
  const auto block = this_thread_block();
  auto pipe = make_pipeline(block, &state);
  int sum = 0;
  for (int used = 0, fetched = 0; used < batches; ++used) {
    for (; fetched < batches && fetched < used + stages; ++fetched) {
      pipe.producer_acquire();
      memcpy_async(block, tile[fetched % stages], in + fetched * threads,
                   aligned_size_t<16>(sizeof tile[0]), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += tile[used % stages][threads - 1 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2) clusters(int* out, const int* in) {
  __shared__ int own;
  __shared__ cluster_scratch<int, threads, 2> scratch;
  const auto cluster = this_cluster();
  if (threadIdx.x == 0) own = in[blockIdx.x];
  cluster.sync();
  const int other = *cluster.map_shared_rank(&own, int(cluster.block_rank()) ^ 1);
  out[cluster.thread_rank()] = other + reduce(with_scratch(cluster, scratch), 1, plus<int>());
  cluster.sync();
}

extern "C" __global__ void bulk_copies(int* out, const int* in) {
  alignas(16) __shared__ int tile[threads];
  __shared__ barrier<> ready;
  if (threadIdx.x == 0) {
    ready.init(1);
    transaction bytes(ready);
    bytes.load(tile, in, sizeof tile);
    bytes.arrive();
  }
  __syncthreads();
  ready.wait_parity(0);
  tile[threadIdx.x] += 1;
  release_to_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store(out, tile, sizeof tile);
    bulk_commit();
    bulk_wait_read();
  }
}

using box = swizzled_tile<int, 8, 16, swizzle::b64>;
extern "C" __global__ void tensors(int* out, const __grid_constant__ tile_map<box> map) {
  __shared__ box tile;
  __shared__ barrier<> ready;
  if (threadIdx.x == 0) {
    ready.init(1);
    transaction bytes(ready);
    copy_async(tile, map, {16, 0}, bytes);
    bytes.arrive();
  }
  __syncthreads();
  ready.wait_parity(0);
  out[threadIdx.x] = tile(threadIdx.x / 16, threadIdx.x % 16);
}
#endif
