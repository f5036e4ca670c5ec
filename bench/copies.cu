// arch: compute_90
// Measures loads of 64 MiB through shared memory with each way of copying: cp.async, bulk, tensor.
// All use the same tile, stages and sum. Each prints a line with its time per byte, the ratio to
// cp.async in the same run, and its processor time.
//   copies REPETITIONS
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace {

constexpr int threads = 256, stages = 3, rows = 32, columns = 64;  // a tile: 8 KiB of float
constexpr int tile = rows * columns, tile_bytes = tile * 4, tiles_per_block = 64;
constexpr std::size_t bytes = 64 << 20;
constexpr int blocks = int(bytes / tile_bytes / tiles_per_block);

__device__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

__device__ void expect(unsigned bar) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "n"(tile_bytes)
               : "memory");
}
__device__ void wait(unsigned bar, unsigned parity) {
  asm volatile(
      "{ .reg .pred p;\nagain: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra again; "
      "}" ::"r"(bar),
      "r"(parity)
      : "memory");
}

// Every thread adds 8 floats of each tile.
__device__ float add_up(const float* buffer, float sum) {
  for (int i = threadIdx.x; i < tile; i += threads) sum += buffer[i];
  return sum;
}

__global__ void ampere(const float* in, float* out) {
  __shared__ alignas(128) float buffer[stages][tile];
  const float* const mine = in + std::size_t(blockIdx.x) * tiles_per_block * tile;
  auto fetch = [&](int t) {
    if (t < tiles_per_block)
      for (int i = threadIdx.x * 4; i < tile; i += threads * 4)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                         shared_address(&buffer[t % stages][i])),
                     "l"(mine + std::size_t(t) * tile + i)
                     : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  float sum = 0;
  for (int t = 0; t < stages - 1; ++t) fetch(t);
  for (int t = 0; t < tiles_per_block; ++t) {
    fetch(t + stages - 1);
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
    __syncthreads();
    sum = add_up(buffer[t % stages], sum);
    __syncthreads();
  }
  out[blockIdx.x * threads + threadIdx.x] = sum;
}

// One thread fetches for the block: `fetch_tile(to, bar, index of the tile)`.
template <class Fetch>
__device__ void hopper(float* out, Fetch fetch_tile) {
  __shared__ alignas(1024) float buffer[stages][tile];
  __shared__ alignas(8) std::uint64_t full[stages];
  auto fetch = [&](int t) {
    if (threadIdx.x != 0 || t >= tiles_per_block) return;
    const unsigned bar = shared_address(&full[t % stages]);
    expect(bar);
    fetch_tile(shared_address(buffer[t % stages]), bar, blockIdx.x * tiles_per_block + t);
  };
  if (threadIdx.x == 0)
    for (auto& bar : full)
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&bar)) : "memory");
  __syncthreads();
  float sum = 0;
  for (int t = 0; t < stages - 1; ++t) fetch(t);
  for (int t = 0; t < tiles_per_block; ++t) {
    fetch(t + stages - 1);
    wait(shared_address(&full[t % stages]), t / stages & 1);
    sum = add_up(buffer[t % stages], sum);
    __syncthreads();
  }
  out[blockIdx.x * threads + threadIdx.x] = sum;
}

__global__ void bulk(const float* in, float* out) {
  hopper(out, [&](unsigned to, unsigned bar, int t) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(to),
        "l"(in + std::size_t(t) * tile), "n"(tile_bytes), "r"(bar)
        : "memory");
  });
}

__global__ void tensor(const __grid_constant__ CUtensorMap map, float* out) {
  hopper(out, [&](unsigned to, unsigned bar, int t) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(&map), "r"(0), "r"(t * rows), "r"(bar)
        : "memory");
  });
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "copies: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

CUtensorMap tensor_map(float* data) {
  decltype(&cuTensorMapEncodeTiled) encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", reinterpret_cast<void**>(&encode),
                                       12000, cudaEnableDefault, &found),
      "cuTensorMapEncodeTiled");
  const cuuint64_t extents[2] = {columns, bytes / 4 / columns}, strides[1] = {columns * 4};
  const cuuint32_t box[2] = {columns, rows}, steps[2] = {1, 1};
  CUtensorMap map;
  if (encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data, extents, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::fprintf(stderr, "copies: the tensor map was not encoded\n");
    std::exit(1);
  }
  return map;
}

}  // namespace

int main(int count, char** arguments) {
  const int repetitions = count > 1 ? std::atoi(arguments[1]) : 5;
  float *in, *out;
  check(cudaMalloc(&in, bytes), "cudaMalloc");
  check(cudaMalloc(&out, blocks * threads * sizeof(float)), "cudaMalloc");
  std::vector<float> values(bytes / 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i % 251);
  check(cudaMemcpy(in, values.data(), bytes, cudaMemcpyDefault), "cudaMemcpy");
  const CUtensorMap map = tensor_map(in);
  std::vector<float> first;
  double ampere_time = 0;
  auto time = [&](const char* name, auto launch) {
    double best = 1e9, processor = 1e9;
    for (int i = 0; i < repetitions; ++i) {
      const std::clock_t ticks = std::clock();
      const auto begin = std::chrono::steady_clock::now();
      launch();
      check(cudaDeviceSynchronize(), name);
      processor = std::min(processor, double(std::clock() - ticks) / CLOCKS_PER_SEC);
      best = std::min(
          best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::vector<float> sums(blocks * threads);
    check(cudaMemcpy(sums.data(), out, sums.size() * 4, cudaMemcpyDefault), name);
    if (first.empty()) first = sums, ampere_time = best;
    const double per_kib = 1e9 / (bytes >> 10);
    std::printf("%-20s %8.3f ns a KiB   %5.2f of cp.async   %s   %8.3f ns of processor\n", name,
                best * per_kib, best / ampere_time, sums == first ? "right" : "WRONG",
                processor * per_kib);
  };
  time("cp.async, 16 bytes", [&] { ampere<<<blocks, threads>>>(in, out); });
  time("bulk", [&] { bulk<<<blocks, threads>>>(in, out); });
  time("tensor, 2d", [&] { tensor<<<blocks, threads>>>(map, out); });
}
