// Reductions and scans among the warps of a block or wide tile, and among the blocks of a cluster.
// Each warp reduces its own values and writes the result to shared memory. After one barrier every
// warp combines the results that it needs. Where each warp would repeat much work, one warp does it
// for all, and a second barrier follows.
#pragma once
#include <inflight/impl/collective_warp.cuh>
#include <inflight/ptx/address.cuh>

namespace inflight::impl {

INFLIGHT_HOST_DEVICE constexpr unsigned power_not_below(unsigned n) {
  unsigned power = 1;
  while (power < n) power *= 2;
  return power;
}

// How a warp reads the results of `Warps` warps: each lane reads `each` neighbours, at most 32
// bytes and eight values, and `lanes` lanes together read all. `spread` is `lanes` rounded up to a
// power of two.
template <class T, unsigned Warps>
struct reading {
  INFLIGHT_HOST_DEVICE static constexpr unsigned pick() {
    unsigned most = 32 / sizeof(T) < 8 ? 32 / sizeof(T) : 8;
    if (Warps <= most) return Warps;
    while (Warps % most != 0) most /= 2;
    return most;
  }
  static constexpr unsigned each = pick(), lanes = Warps / each, spread = power_not_below(lanes);
  static constexpr unsigned bytes = each * sizeof(T), granule = bytes & (0u - bytes);
};

// The balanced tree over the first `valid` of N values.
template <unsigned N, class T, class Op>
INFLIGHT_DEVICE T tree(const T* values, unsigned valid, Op& op) {
  if constexpr (N == 1) {
    return values[0];
  } else {
    constexpr unsigned half = power_not_below(N) / 2;
    const T left = tree<half>(values, valid, op);
    const T right = tree<N - half>(values + half, valid - half, op);
    return int(valid) > int(half) ? op(left, right) : left;
  }
}

// A lane's share of the results of `Warps` warps, read 16 bytes at a time.
template <class T, unsigned Warps>
struct alignas(reading<T, Warps>::granule > 16 ? 16 : reading<T, Warps>::granule) share {
  T values[reading<T, Warps>::each];
};

// If redux.sync can do it and the results are too many for one lane, each lane takes one of them.
template <class T, unsigned Warps, class Op>
inline constexpr bool by_hardware =
    hardware_reduces<T, std::remove_cv_t<Op>>() && reading<T, Warps>::lanes > 1;

// Reduces the first `valid` of `Warps` results.
template <unsigned Warps, class T, class Op>
INFLIGHT_DEVICE T redux_results(const T* results, unsigned valid, Op&) {
  constexpr operation does = what<T, std::remove_cv_t<Op>>;
  const unsigned lane = ptx::lane_id();
  // Every lane reads: no branch.
  const T read = results[lane < Warps ? lane : 0];
  return redux<does>(every_lane, lane < valid ? read : neutral<T, does>());
}

// The reduction of the first `valid` of the results of `Warps` warps. `valid` is the same for the
// whole calling warp; if it is 0, the result is meaningless.
template <unsigned Warps, class T, class Op>
INFLIGHT_DEVICE T reduce_first(const T* results, unsigned valid, Op& op) {
  using by = reading<T, Warps>;
  constexpr operation does = what<T, std::remove_cv_t<Op>>;
  if constexpr (by_hardware<T, Warps, Op>) {
    return redux_results<Warps>(results, valid, op);
  } else {
    const unsigned lane = ptx::lane_id() % by::spread;
    const unsigned place = lane < by::lanes ? lane : by::lanes - 1;
    const auto read = reinterpret_cast<const share<T, Warps>*>(results)[place];
    T value = tree<by::each>(read.values, valid - lane * by::each, op);
    if constexpr (by::spread == 1) {
      return value;
    } else if constexpr (does != operation::other) {
      if (lane * by::each >= valid) value = neutral<T, does>();
      return butterfly<by::spread, Warps>(every_lane, lane, value, op);
    } else {
#pragma unroll
      for (unsigned step = 1; step < by::spread; step *= 2) {
        const T other = across(every_lane, value, step);
        const unsigned block = lane & ~(step - 1);
        if (lane & step)
          value = block * by::each < valid ? op(other, value) : other;
        else
          value = (block + step) * by::each < valid ? op(value, other) : value;
      }
      return value;
    }
  }
}

// The reduction of all of them.
template <unsigned Warps, class T, class Op>
INFLIGHT_DEVICE T reduce_results(const T* results, Op& op) {
  using by = reading<T, Warps>;
  if constexpr (by_hardware<T, Warps, Op> || by::lanes != by::spread) {
    return reduce_first<Warps>(results, Warps, op);
  } else {
    const unsigned lane = ptx::lane_id() % by::spread;
    const auto read = reinterpret_cast<const share<T, Warps>*>(results)[lane];
    return butterfly<by::spread, Warps>(every_lane, lane, tree<by::each>(read.values, by::each, op),
                                        op);
  }
}

// Combines them one by one from rank 0, for counts that the compiler does not know.
template <class T, class Op>
INFLIGHT_DEVICE T reduce_row(const T* results, unsigned count, Op& op) {
  T value = results[0];
#pragma unroll 1
  for (unsigned i = 1; i < count; ++i) value = op(value, results[i]);
  return value;
}

// Mask of the lanes of warp `warp` in a group of `threads` threads.
INFLIGHT_DEVICE std::uint32_t lanes_present(unsigned warp, unsigned threads) {
  const unsigned left = threads - 32 * warp;
  return left >= 32 ? every_lane : (1u << left) - 1;
}

// Whether one warp combines the warps' results for all. Measured on an H200, in cycles, each warp
// by itself against one for all: a sum of float over 256 threads 140 and 225, 512 threads 311 and
// 260, 1024 threads 566 and 385; of double over 128, 256 and 1024 threads 148 and 211, 313 and 265,
// 1089 and 578; a scan of float over 512 threads 355 and 432, 1024 threads 628 and 462. With
// redux.sync, each by itself is always faster.
template <class T, unsigned Warps, class Op>
inline constexpr bool one_reduces = Warps >= 8 && reading<T, Warps == 0 ? 1 : Warps>::lanes > 1 &&
                                    !hardware_reduces<T, std::remove_cv_t<Op>>();
template <class T, unsigned Warps, class Op>
inline constexpr bool one_scans = Warps >= 24 && !hardware_reduces<T, std::remove_cv_t<Op>>();

// All results of `Warps` warps, read 16 bytes at a time by one thread.
template <class T, unsigned Warps>
struct alignas(alignof(T) > 16 ? alignof(T) : 16) row {
  T values[Warps];
};

// The first warp writes the reduction of all results over the first one; all read it after a
// barrier. For 64 bytes, one thread is faster than an exchange in the warp. For 128, ptxas makes it
// wait for one read after the other to save registers (float, 1024 threads: 560 cycles).
template <unsigned Warps, class T, class Op>
INFLIGHT_DEVICE void reduce_for_all(unsigned rank, T* results, Op& op) {
  if constexpr (Warps * sizeof(T) <= 64) {
    if (rank == 0) {
      const auto read = *reinterpret_cast<const row<T, Warps>*>(results);
      results[0] = tree<Warps>(read.values, Warps, op);
    }
  } else if (rank < 32) {
    const T all = reduce_results<Warps>(results, op);
    ptx::warp_sync(every_lane);
    if (rank == 0) results[0] = all;
  }
}

// Replaces each warp's result by the combination of its own and all lower warps' results.
template <unsigned Warps, class T, class Op>
INFLIGHT_DEVICE void scan_for_all(unsigned rank, T* results, Op& op) {
  if (rank >= 32) return;
  T value{};
  if (Warps == 32 || rank < Warps) value = results[rank];
  value = scan_up<32>(every_lane, rank, value, op);
  if (Warps == 32 || rank < Warps) results[rank] = value;
}

enum class result { reduction, inclusive, exclusive };

// The result for one thread of a group of several warps. `results` has one element for each warp;
// `sync_group()` is the group's barrier. Block: the group is a whole block, which may use a second
// barrier (the cost of one in a tile is not measured). Warps: their number if it is known and all
// are whole; else 0, and `threads` has the number of threads. `total`, if not null, receives the
// reduction over the whole group.
template <result Wanted, unsigned Warps, bool Block, class T, class Op, class Sync>
INFLIGHT_DEVICE T over_warps(unsigned rank, unsigned threads, T* results, const T& value, Op& op,
                             T* total, Sync sync_group) {
  const unsigned warp = rank / 32, lane = rank % 32;
  decltype(auto) apply = applied<T>(op);
  const std::uint32_t mask = Warps != 0 ? every_lane : lanes_present(warp, threads);
  if constexpr (Wanted == result::reduction) {
    T own;
    if constexpr (Warps != 0)
      own = reduce_lanes<32, Warps>(every_lane, lane, value, op);
    else
      own = reduce_lanes<0>(mask, lane, value, op);
    if (lane == 0) results[warp] = own;
    sync_group();
    if constexpr (Warps == 0) {
      return reduce_row(results, (threads + 31) / 32, apply);
    } else if constexpr (Block && one_reduces<T, Warps, Op>) {
      reduce_for_all<Warps>(rank, results, apply);
      sync_group();
      return results[0];
    } else {
      return reduce_results<Warps>(results, apply);
    }
  } else {
    T own, out{}, before;
    if constexpr (Warps != 0)
      own = scan_lanes<32, Warps>(every_lane, lane, value, op);
    else
      own = scan_lanes<0>(mask, lane, value, op);
    if (lane == unsigned(__popc(mask)) - 1) results[warp] = own;
    if constexpr (Wanted == result::exclusive) out = excluded<32>(mask, lane, value, own, op);
    sync_group();
    if constexpr (Warps == 0) {
      if (total != nullptr) *total = reduce_row(results, (threads + 31) / 32, apply);
      before = reduce_row(results, warp, apply);
    } else if constexpr (Block && one_scans<T, Warps, Op>) {
      scan_for_all<Warps>(rank, results, apply);
      sync_group();
      if (total != nullptr) *total = results[Warps - 1];
      before = results[warp == 0 ? 0 : warp - 1];
    } else {
      if (total != nullptr) *total = reduce_results<Warps>(results, apply);
      before = reduce_first<Warps>(results, warp, apply);
    }
    if constexpr (Wanted == result::inclusive)
      return warp == 0 ? own : apply(before, own);
    else if (warp == 0)
      return out;
    else
      return lane == 0 ? before : apply(before, out);
  }
}

// Traps if the block's number of threads is not the one in the scratch's type (0: any number).
template <unsigned Threads>
INFLIGHT_DEVICE void require_threads() {
  if (Threads != 0 && block_threads() != Threads) __trap();
}

// A collective of all threads of a block of exactly Threads threads, or of any number (0).
template <result Wanted, unsigned Threads, class V, class Op, class Sync>
INFLIGHT_DEVICE V over_block(V* results, const V& value, Op& op, V* total, Sync sync_group) {
  constexpr unsigned whole_warps = Threads % 32 == 0 ? Threads / 32 : 0;
  return over_warps<Wanted, whole_warps, true>(block_thread_rank(),
                                               Threads != 0 ? Threads : block_threads(), results,
                                               value, op, total, sync_group);
}

}  // namespace inflight::impl
