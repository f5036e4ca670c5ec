// The common part of the benchmarks of collectives: chains of calls in which each waits for the
// previous one, the cases of NVIDIA and of Inflight, the expected results, and the times.
#pragma once
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <inflight/groups.cuh>
#include <inflight/reduce.cuh>
#include <inflight/scan.cuh>
#include <type_traits>
#include <vector>

namespace cg = cooperative_groups;

inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

// The threads that get a result: all of a group, each up to or below its own rank, or only the
// block's first. With `own` each keeps its own value.
enum class gives { all, upto, below, first, own };

// Applied to a result after each call. It divides a reduction's result by the group's threads, so
// that a chain of sums keeps its size. Integers wrap, so their rank is added, or they would end as
// zeros.
template <class T, unsigned Group, gives Gives>
__host__ __device__ T settled(T result, unsigned rank) {
  if constexpr (Gives == gives::own)
    return result;
  else if constexpr (std::is_floating_point_v<T>)
    return result * (T(1) / T(Gives == gives::all || Gives == gives::first ? Group : 32));
  else if constexpr (Gives == gives::all || Gives == gives::first)
    return result + T(rank);
  else
    return result;
}

struct Times {
  long long cycles, nanoseconds;
};
__device__ long long nanoseconds() {
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

template <class Case>
__global__ void __launch_bounds__(Case::threads)
    chain(typename Case::type* data, int rounds, Times* times) {
  using T = typename Case::type;
  __shared__ typename Case::storage storage;
  Case call(storage);
  const unsigned rank = threadIdx.x % Case::group;
  T value = data[threadIdx.x];
  __syncthreads();
  const long long time = nanoseconds(), start = clock64();
#pragma unroll 4
  for (int round = 0; round < rounds; ++round) {
    const T result = call(value);
    value = settled<T, Case::group, Case::result>(result, rank);
  }
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) *times = {end - start, nanoseconds() - time};
  data[threadIdx.x] = value;
}

struct None {};

#define TILE_CASE(NAME, RESULT, SPACE, CALL)                                \
  template <class T, unsigned Size>                                         \
  struct NAME {                                                             \
    using type = T;                                                         \
    using storage = None;                                                   \
    static constexpr unsigned threads = 256, group = Size;                  \
    static constexpr gives result = RESULT;                                 \
    __device__ explicit NAME(storage&) {}                                   \
    __device__ T operator()(T value) {                                      \
      auto tile = SPACE::tiled_partition<Size>(SPACE::this_thread_block()); \
      return CALL;                                                          \
    }                                                                       \
  }
TILE_CASE(their_reduce, gives::all, cg, cg::reduce(tile, value, cg::plus<T>()));
TILE_CASE(our_reduce, gives::all, inflight, inflight::reduce(tile, value, inflight::plus<T>()));
TILE_CASE(their_lambda, gives::all, cg, cg::reduce(tile, value, [](T a, T b) { return a + b; }));
TILE_CASE(our_lambda, gives::all, inflight,
          inflight::reduce(tile, value, [](T a, T b) { return a + b; }));
TILE_CASE(their_scan, gives::upto, cg, cg::inclusive_scan(tile, value));
TILE_CASE(our_scan, gives::upto, inflight, inflight::inclusive_scan(tile, value));
TILE_CASE(their_exclusive, gives::below, cg, cg::exclusive_scan(tile, value));
TILE_CASE(our_exclusive, gives::below, inflight, inflight::exclusive_scan(tile, value));
TILE_CASE(their_coalesced, gives::all, cg,
          (void(tile), cg::reduce(cg::coalesced_threads(), value, cg::plus<T>())));
TILE_CASE(our_coalesced, gives::all, inflight,
          (void(tile),
           inflight::reduce(inflight::coalesced_threads(), value, inflight::plus<T>())));

// Tiles of several warps in a block of 512. NVIDIA's use the block's reserved shared memory.
// Inflight's do too if the block brings no storage.
template <class T, unsigned Size, gives Result, class Storage, class Block>
struct wide_case {
  using type = T;
  using storage = Storage;
  static constexpr unsigned threads = 512, group = Size;
  static constexpr gives result = Result;
  Block block;
};
struct their_blocks {
  using storage = None;
  using block = cg::thread_block;
  static __device__ block make(storage&) { return cg::this_thread_block(); }
};
struct our_bare_blocks {
  using storage = None;
  using block = inflight::thread_block;
  static __device__ block make(storage&) { return inflight::this_thread_block(); }
};
struct our_blocks {
  using storage = inflight::block_tile_memory<512>;
  using block = inflight::thread_block;
  static __device__ block make(storage& memory) { return inflight::this_thread_block(memory); }
};
#define WIDE_CASE(NAME, RESULT, SPACE, CALL)                                                   \
  template <class T, unsigned Size, class Blocks>                                              \
  struct NAME : wide_case<T, Size, RESULT, typename Blocks::storage, typename Blocks::block> { \
    __device__ explicit NAME(typename Blocks::storage& memory)                                 \
        : wide_case<T, Size, RESULT, typename Blocks::storage, typename Blocks::block>{        \
              Blocks::make(memory)} {}                                                         \
    __device__ T operator()(T value) {                                                         \
      auto tile = SPACE::tiled_partition<Size>(this->block);                                   \
      return CALL;                                                                             \
    }                                                                                          \
  }
WIDE_CASE(their_wide_sync, gives::own, cg, (tile.sync(), value));
WIDE_CASE(our_wide_sync, gives::own, inflight, (tile.sync(), value));
WIDE_CASE(their_wide_reduce, gives::all, cg, cg::reduce(tile, value, cg::plus<T>()));
WIDE_CASE(our_wide_reduce, gives::all, inflight,
          inflight::reduce(tile, value, inflight::plus<T>()));
WIDE_CASE(their_wide_scan, gives::upto, cg, cg::inclusive_scan(tile, value));
WIDE_CASE(our_wide_scan, gives::upto, inflight, inflight::inclusive_scan(tile, value));

// CUB's storage may be reused only after a barrier, which the caller provides.
template <class T, unsigned Threads>
struct cub_reduce {
  using type = T;
  using block = cub::BlockReduce<T, Threads>;
  using storage = typename block::TempStorage;
  static constexpr unsigned threads = Threads, group = Threads;
  static constexpr gives result = gives::first;
  storage& memory;
  __device__ explicit cub_reduce(storage& memory) : memory(memory) {}
  __device__ T operator()(T value) {
    const T sum = block(memory).Sum(value);
    __syncthreads();
    return threadIdx.x == 0 ? sum : value;
  }
};
template <class T, unsigned Threads>
struct cub_reduce_all {
  using type = T;
  using block = cub::BlockReduce<T, Threads>;
  struct storage {
    typename block::TempStorage memory;
    T sum;
  };
  static constexpr unsigned threads = Threads, group = Threads;
  static constexpr gives result = gives::all;
  storage& memory;
  __device__ explicit cub_reduce_all(storage& memory) : memory(memory) {}
  __device__ T operator()(T value) {
    const T sum = block(memory.memory).Sum(value);
    if (threadIdx.x == 0) memory.sum = sum;
    __syncthreads();
    return memory.sum;
  }
};
template <class T, unsigned Threads, cub::BlockScanAlgorithm Algorithm>
struct cub_scan {
  using type = T;
  using block = cub::BlockScan<T, Threads, Algorithm>;
  using storage = typename block::TempStorage;
  static constexpr unsigned threads = Threads, group = Threads;
  static constexpr gives result = gives::upto;
  storage& memory;
  __device__ explicit cub_scan(storage& memory) : memory(memory) {}
  __device__ T operator()(T value) {
    T sum;
    block(memory).InclusiveSum(value, sum);
    __syncthreads();
    return sum;
  }
};
template <class T, unsigned Threads>
using cub_scan_raking = cub_scan<T, Threads, cub::BLOCK_SCAN_RAKING>;
template <class T, unsigned Threads>
using cub_scan_warps = cub_scan<T, Threads, cub::BLOCK_SCAN_WARP_SCANS>;

#define BLOCK_CASE(NAME, RESULT, CALL)                                           \
  template <class T, unsigned Threads>                                           \
  struct NAME {                                                                  \
    using type = T;                                                              \
    using storage = inflight::block_scratch<T, Threads>;                         \
    static constexpr unsigned threads = Threads, group = Threads;                \
    static constexpr gives result = RESULT;                                      \
    decltype(inflight::with_scratch(std::declval<inflight::thread_block>(),      \
                                    std::declval<storage&>())) team;             \
    __device__ explicit NAME(storage& memory)                                    \
        : team(inflight::with_scratch(inflight::this_thread_block(), memory)) {} \
    __device__ T operator()(T value) { return CALL; }                            \
  }
BLOCK_CASE(our_block_reduce, gives::all, inflight::reduce(team, value, inflight::plus<T>()));
BLOCK_CASE(our_block_scan, gives::upto, inflight::inclusive_scan(team, value));

template <class Case>
std::vector<typename Case::type> expected(std::vector<typename Case::type> values, int rounds) {
  using T = typename Case::type;
  for (int round = 0; round < rounds; ++round)
    for (unsigned first = 0; first < Case::threads; first += Case::group) {
      T all = 0;
      for (unsigned i = 0; i < Case::group; ++i) all += values[first + i];
      T sum = 0;
      for (unsigned i = 0; i < Case::group; ++i) {
        T& value = values[first + i];
        const T own = value, before = sum;
        sum += own;
        T result = all;
        if (Case::result == gives::upto) result = sum;
        if (Case::result == gives::below) result = before;
        if (Case::result == gives::own || (Case::result == gives::first && first + i != 0))
          result = own;
        value = settled<T, Case::group, Case::result>(result, i);
      }
    }
  return values;
}

struct Measured {
  double cycles, nanoseconds;
  bool right;
};

inline bool all_right = true;
inline int rounds = 4096;

template <class Case>
Measured measure() {
  using T = typename Case::type;
  constexpr int checked = 2;
  T* data;
  Times* times;
  check(cudaMalloc(&data, Case::threads * sizeof(T)));
  check(cudaMalloc(&times, sizeof(Times)));
  // Small numbers, so that sums are exact in any order.
  std::vector<T> start(Case::threads), got(Case::threads);
  for (unsigned i = 0; i < Case::threads; ++i) start[i] = T(int(i * 7919u % 15u) - 7);
  const auto fill = [&] {
    check(cudaMemcpy(data, start.data(), start.size() * sizeof(T), cudaMemcpyHostToDevice));
  };
  fill();
  chain<Case><<<1, Case::threads>>>(data, checked, times);
  check(cudaGetLastError());
  check(cudaMemcpy(got.data(), data, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
  Measured result = {0, 0, got == expected<Case>(start, checked)};
  all_right = all_right && result.right;
  std::vector<double> cycles, nanoseconds;
  for (int run = -2; run < 11; ++run) {
    fill();
    chain<Case><<<1, Case::threads>>>(data, rounds, times);
    Times took;
    check(cudaMemcpy(&took, times, sizeof took, cudaMemcpyDeviceToHost));
    if (run < 0) continue;
    cycles.push_back(double(took.cycles) / rounds);
    nanoseconds.push_back(double(took.nanoseconds) / rounds);
  }
  std::sort(cycles.begin(), cycles.end());
  std::sort(nanoseconds.begin(), nanoseconds.end());
  result.cycles = cycles[cycles.size() / 2];
  result.nanoseconds = nanoseconds[nanoseconds.size() / 2];
  check(cudaFree(data));
  check(cudaFree(times));
  return result;
}

template <class Theirs, class Ours>
void compare(const char* what, const char* type) {
  const Measured theirs = measure<Theirs>(), ours = measure<Ours>();
  std::printf("%-42s %-9s %4u %5u | %8.1f %8.1f | %8.1f %8.1f | %5.2f%s%s\n", what, type,
              Ours::threads, Ours::group, theirs.cycles, theirs.nanoseconds, ours.cycles,
              ours.nanoseconds, ours.cycles / theirs.cycles,
              theirs.right ? "" : "  NVIDIA's is WRONG", ours.right ? "" : "  Inflight's is WRONG");
  std::fflush(stdout);
}
