// Searches the fastest way for a collective: compares candidates with NVIDIA's in one run, in
// chains as in collectives.cu. Prints cycles and nanoseconds per call. The library's way is one of
// the candidates. Tried before, slower everywhere and removed: shfl.up's predicate instead of a
// comparison of ranks, and bar.arrive for warps that do nothing before a second barrier.
//
//   nvcc -std=c++17 -O3 -arch=sm_90a -I. -Iinclude bench/library/collective_search.cu -o search
//   search [ROUNDS [TYPE]]   (4096 calls a chain and every type if not given)
#include <cstring>

#include "bench/library/collective_chain.cuh"

namespace impl = inflight::impl;
namespace ptx = inflight::ptx;

template <class Case>
void line(const char* what, const char* type) {
  const Measured took = measure<Case>();
  std::printf("%-10s %5u %4u  %-52s %8.1f %8.1f%s\n", type, Case::threads, Case::group, what,
              took.cycles, took.nanoseconds, took.right ? "" : "  WRONG");
  std::fflush(stdout);
}

// ---- Tiles: how the mask is computed, and how many exchanges are in flight together.

// `branch`: the whole warp's mask if all of it runs, else the tile's. `variable`: always the
// tile's.
enum class mask_by { branch, variable };

template <mask_by Way, unsigned Size, class Body>
__device__ __forceinline__ auto with_mask(Body body) {
  if constexpr (Size == 32) return body(~0u);
  if constexpr (Way == mask_by::branch)
    if (__activemask() == ~0u) return body(~0u);
  return body(((1u << (Size % 32)) - 1) << (ptx::lane_id() & (32 - Size)));
}

// The number of warps that the library assumes to exchange at the same time. Few choose four ranks
// at a time, many choose two.
template <bool Fours>
constexpr unsigned crowd = Fours ? 1 : 32;

template <class T, unsigned Size, mask_by Way, bool Fours>
struct tile_reduce {
  using type = T;
  using storage = None;
  static constexpr unsigned threads = 256, group = Size;
  static constexpr gives result = gives::all;
  __device__ explicit tile_reduce(storage&) {}
  __device__ T operator()(T value) {
    inflight::plus<T> op;
    return with_mask<Way, Size>([&](unsigned mask) {
      return impl::butterfly<Size, crowd<Fours>>(mask, ptx::lane_id() % Size, value, op);
    });
  }
};
template <class T, unsigned Size, mask_by Way, bool Fours>
struct tile_scan {
  using type = T;
  using storage = None;
  static constexpr unsigned threads = 256, group = Size;
  static constexpr gives result = gives::upto;
  __device__ explicit tile_scan(storage&) {}
  __device__ T operator()(T value) {
    inflight::plus<T> op;
    return with_mask<Way, Size>([&](unsigned mask) {
      return impl::scan_up<Size, crowd<Fours>>(mask, ptx::lane_id() % Size, value, op);
    });
  }
};

// Eight ranks at a time, with seven exchanges in flight together.
template <unsigned N, class T>
__device__ __forceinline__ T sum_eights(unsigned mask, unsigned rank, T value) {
  inflight::plus<T> op;
  T all[8] = {value};
#pragma unroll
  for (unsigned i = 1; i < 8; ++i) all[i] = impl::across(mask, value, i);
  return impl::butterfly<N, 1, 8>(mask, rank, impl::tree<8>(all, 8, op), op);
}
template <unsigned N, class T>
__device__ __forceinline__ T scan_eights(unsigned mask, unsigned rank, T value) {
  inflight::plus<T> op;
  T all[8] = {value};
#pragma unroll
  for (unsigned i = 1; i < 8; ++i) all[i] = impl::from_below<N>(mask, value, i);
#pragma unroll
  for (unsigned step = 1; step < 8; step *= 2)
#pragma unroll
    for (unsigned i = 0; i < 8; i += 2 * step)
      if (rank >= i + step) all[i] = all[i + step] + all[i];
  return impl::scan_up<N, 1, 8>(mask, rank, all[0], op);
}
template <class T, unsigned Size, gives Gives>
struct tile_eights {
  using type = T;
  using storage = None;
  static constexpr unsigned threads = 256, group = Size;
  static constexpr gives result = Gives;
  __device__ explicit tile_eights(storage&) {}
  __device__ T operator()(T value) {
    return with_mask<mask_by::variable, Size>([&](unsigned mask) {
      const unsigned rank = ptx::lane_id() % Size;
      if constexpr (Gives == gives::all) return sum_eights<Size>(mask, rank, value);
      return scan_eights<Size>(mask, rank, value);
    });
  }
};

template <class T, unsigned Size, mask_by Way>
void tile_ways(const char* type, const char* way) {
  char what[80];
  const auto named = [&](const char* rest) {
    std::snprintf(what, sizeof what, "%s, mask %s", rest, way);
    return what;
  };
  line<tile_reduce<T, Size, Way, false>>(named("reduce by twos"), type);
  line<tile_reduce<T, Size, Way, true>>(named("reduce by fours"), type);
  line<tile_scan<T, Size, Way, false>>(named("scan by twos"), type);
  line<tile_scan<T, Size, Way, true>>(named("scan by fours"), type);
}
template <class T, unsigned Size>
void tile(const char* type) {
  line<their_reduce<T, Size>>("cg::reduce", type);
  line<our_reduce<T, Size>>("inflight::reduce", type);
  line<their_scan<T, Size>>("cg::inclusive_scan", type);
  line<our_scan<T, Size>>("inflight::inclusive_scan", type);
  if constexpr (Size != 32) tile_ways<T, Size, mask_by::branch>(type, "branch");
  tile_ways<T, Size, mask_by::variable>(type, "variable");
  line<tile_eights<T, Size, gives::all>>("reduce by eights, mask variable", type);
  line<tile_eights<T, Size, gives::upto>>("scan by eights, mask variable", type);
}

// ---- Blocks.

// How the results of warps are combined: by every warp after one barrier, or by one warp with a
// second barrier. Each lane reads one result, or neighbours in wide reads. `rake`: no warp reduces
// first. Every thread stores its value in shared memory, and one or four warps reduce them all.
enum class second {
  each_lane,
  each_wide,
  one_lane,
  one_wide,
  one_serial,
  atomic,
  rake_one,
  rake_four,
};
template <class T, unsigned Threads>
struct Room {
  static constexpr unsigned warps = Threads / 32;
  alignas(16) T results[2][32];
  T total;
  alignas(16) T raked[Threads * 3 / 2];
  T sums[3];
};

template <class T, bool Fours>
__device__ __forceinline__ T warp_sum(T value) {
  inflight::plus<T> op;
  if constexpr (std::is_integral_v<T>)
    return impl::reduce_lanes<32>(~0u, ptx::lane_id(), value, op);
  else
    return impl::butterfly<32, crowd<Fours>>(~0u, ptx::lane_id(), value, op);
}
template <unsigned Count, class T, bool Fours>
__device__ __forceinline__ T lanes_sum(const T* results) {
  inflight::plus<T> op;
  const unsigned lane = ptx::lane_id();
  if constexpr (std::is_integral_v<T>) {
    return warp_sum<T, Fours>(lane < Count ? results[lane] : T(0));
  } else {
    return impl::butterfly<Count, crowd<Fours>>(~0u, lane, results[lane % Count], op);
  }
}
template <unsigned Count, class T>
struct alignas(Count * sizeof(T) > 16 ? 16 : Count * sizeof(T)) Wide {
  T values[Count];
};
template <unsigned Count, class T>
__device__ __forceinline__ T wide_sum(const T* at) {
  inflight::plus<T> op;
  const auto read = *reinterpret_cast<const Wide<Count, T>*>(at);
  return impl::tree<Count>(read.values, Count, op);
}

template <class T, unsigned Threads, second How, bool Fours>
struct block_way {
  using type = T;
  using storage = Room<T, Threads>;
  static constexpr unsigned threads = Threads, group = Threads, warps = Threads / 32;
  static constexpr gives result = gives::all;
  storage& room;
  unsigned turn = 0;
  __device__ explicit block_way(storage& room) : room(room) {
    if (threadIdx.x < 3) room.sums[threadIdx.x] = T(0);
  }
  __device__ T operator()(T value) {
    inflight::plus<T> op;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if constexpr (How == second::each_lane || How == second::each_wide) {
      T* results = room.results[turn];
      turn ^= 1;
      const T own = warp_sum<T, Fours>(value);
      if (lane == 0) results[warp] = own;
      __syncthreads();
      if constexpr (How == second::each_lane)
        return lanes_sum<warps, T, Fours>(results);
      else if constexpr (std::is_integral_v<T>)
        return wide_sum<warps>(results);
      else
        return impl::reduce_results<warps>(results, op);
    } else if constexpr (How == second::atomic) {
      if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
        const unsigned next = turn == 2 ? 0 : turn + 1;
        T& sum = room.sums[turn];
        const T own = warp_sum<T, Fours>(value);
        if (lane == 0) atomicAdd(&sum, own);
        if (threadIdx.x == 0) room.sums[next] = T(0);
        turn = next;
        __syncthreads();
        return sum;
      } else {
        return value;
      }
    } else if constexpr (How == second::rake_one || How == second::rake_four) {
      constexpr unsigned rakes = How == second::rake_one ? 1 : 4, each = warps / rakes;
      constexpr unsigned apart = each * sizeof(T) > 16 ? each + 16 / sizeof(T) : each;
      room.raked[threadIdx.x / each * apart + threadIdx.x % each] = value;
      __syncthreads();
      if (warp < rakes) {
        const T own = wide_sum<each>(room.raked + threadIdx.x * apart);
        const T sum = warp_sum<T, true>(own);
        if (lane == 0) room.results[0][warp] = sum;
      }
      __syncthreads();
      return wide_sum<rakes>(room.results[0]);
    } else {
      const T own = warp_sum<T, Fours>(value);
      if (lane == 0) room.results[0][warp] = own;
      __syncthreads();
      if (warp == 0) {
        T sum;
        if constexpr (How == second::one_lane)
          sum = lanes_sum<warps, T, true>(room.results[0]);
        else if constexpr (How == second::one_wide)
          sum = impl::reduce_results<warps>(room.results[0], op);
        else
          sum = wide_sum<warps>(room.results[0]);
        if (lane == 0) room.total = sum;
      }
      __syncthreads();
      return room.total;
    }
  }
};

enum class upward { each, one, rake };
template <class T, unsigned Threads, upward How, bool Fours>
struct scan_way {
  using type = T;
  using storage = Room<T, Threads>;
  static constexpr unsigned threads = Threads, group = Threads, warps = Threads / 32;
  static constexpr gives result = gives::upto;
  storage& room;
  unsigned turn = 0;
  __device__ explicit scan_way(storage& room) : room(room) {}
  template <bool ByFours>
  __device__ T warp_scan(T value) {
    inflight::plus<T> op;
    return impl::scan_up<32, crowd<ByFours>>(~0u, ptx::lane_id(), value, op);
  }
  __device__ T operator()(T value) {
    inflight::plus<T> op;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if constexpr (How == upward::each) {
      T* results = room.results[turn];
      turn ^= 1;
      const T own = warp_scan<Fours>(value);
      if (lane == 31) results[warp] = own;
      __syncthreads();
      const T before = impl::reduce_first<warps>(results, warp, op);
      return warp == 0 ? own : before + own;
    } else if constexpr (How == upward::one) {
      T* results = room.results[0];
      const T own = warp_scan<Fours>(value);
      if (lane == 31) results[warp] = own;
      __syncthreads();
      if (warp == 0) {
        const T sum = warp_scan<true>(results[lane % warps]);
        if (lane < warps) room.results[1][lane] = sum;
      }
      __syncthreads();
      return warp == 0 ? own : room.results[1][warp - 1] + own;
    } else {
      constexpr unsigned each = warps;
      constexpr unsigned apart = each * sizeof(T) > 16 ? each + 16 / sizeof(T) : each;
      T& mine = room.raked[threadIdx.x / each * apart + threadIdx.x % each];
      mine = value;
      __syncthreads();
      if (warp == 0) {
        auto& row = *reinterpret_cast<Wide<each, T>*>(room.raked + lane * apart);
        auto row_values = row;
        const T sum = impl::tree<each>(row_values.values, each, op);
        const T upto = warp_scan<true>(sum), below = impl::from_below<32>(~0u, upto, 1);
        T running = lane == 0 ? T(0) : below;
#pragma unroll
        for (unsigned i = 0; i < each; ++i)
          row_values.values[i] = running = running + row_values.values[i];
        row = row_values;
      }
      __syncthreads();
      return mine;
    }
  }
};

template <class T, unsigned Threads>
void block(const char* type) {
  line<cub_reduce<T, Threads>>("cub::BlockReduce, for thread 0", type);
  line<cub_reduce_all<T, Threads>>("cub::BlockReduce, sent to all", type);
  line<our_block_reduce<T, Threads>>("inflight::reduce", type);
  line<block_way<T, Threads, second::each_lane, false>>("reduce each_lane, twos", type);
  line<block_way<T, Threads, second::each_lane, true>>("reduce each_lane, fours", type);
  line<block_way<T, Threads, second::each_wide, false>>("reduce each_wide, twos", type);
  line<block_way<T, Threads, second::each_wide, true>>("reduce each_wide, fours", type);
  line<block_way<T, Threads, second::one_lane, false>>("reduce one_lane, twos", type);
  line<block_way<T, Threads, second::one_wide, false>>("reduce one_wide, twos", type);
  line<block_way<T, Threads, second::one_serial, false>>("reduce one_serial, twos", type);
  line<block_way<T, Threads, second::one_serial, true>>("reduce one_serial, fours", type);
  if constexpr (std::is_same_v<T, int>)
    line<block_way<T, Threads, second::atomic, false>>("reduce atomic", type);
  line<block_way<T, Threads, second::rake_one, false>>("reduce rake_one", type);
  line<block_way<T, Threads, second::rake_four, false>>("reduce rake_four", type);
  line<cub_scan_raking<T, Threads>>("cub::BlockScan, raking", type);
  line<cub_scan_warps<T, Threads>>("cub::BlockScan, warp scans", type);
  line<our_block_scan<T, Threads>>("inflight::inclusive_scan", type);
  line<scan_way<T, Threads, upward::each, false>>("scan each, twos", type);
  line<scan_way<T, Threads, upward::each, true>>("scan each, fours", type);
  line<scan_way<T, Threads, upward::one, false>>("scan one, twos", type);
  line<scan_way<T, Threads, upward::one, true>>("scan one, fours", type);
  line<scan_way<T, Threads, upward::rake, false>>("scan rake", type);
}

template <class T>
void all(const char* type) {
  tile<T, 8>(type);
  tile<T, 16>(type);
  tile<T, 32>(type);
  block<T, 128>(type);
  block<T, 256>(type);
  block<T, 512>(type);
  block<T, 1024>(type);
}

int main(int argc, char** argv) {
  if (argc > 1) rounds = std::atoi(argv[1]);
  cudaDeviceProp chip;
  check(cudaGetDeviceProperties(&chip, 0));
  std::printf("%s, one block; a call in cycles and ns\n", chip.name);
  const auto wanted = [&](const char* type) { return argc < 3 || std::strcmp(argv[2], type) == 0; };
  if (wanted("int")) all<int>("int");
  if (wanted("float")) all<float>("float");
  if (wanted("double")) all<double>("double");
  if (wanted("long long")) {
    tile<long long, 8>("long long");
    tile<long long, 16>("long long");
  }
  std::printf(all_right ? "all results right\n" : "SOME RESULTS ARE WRONG\n");
  return all_right ? 0 : 1;
}
