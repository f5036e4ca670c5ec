// Actors: threads and their asynchronous copies. Their numbers lie in rows of 32, so that the
// actors of a warp, block or launch are one aligned range of rows.
#pragma once
#include <cstdint>

namespace inflight::order {

using Mask = std::uint32_t;   // bit l: actor l of a row
using Epoch = std::uint32_t;  // a block's logical time, which advances as its threads publish
inline constexpr Epoch always = 0xffffffff;  // later than all others: for a launch that has ended
inline constexpr std::uint32_t lanes = 32;

enum class Scope : std::uint8_t { cta, cluster, gpu, sys };
inline constexpr std::uint32_t scope_count = 4;
enum class Order : std::uint8_t { relaxed, acquire, release, acq_rel, sc };
constexpr bool acquires(Order o) { return o != Order::relaxed && o != Order::release; }
constexpr bool releases(Order o) { return o != Order::relaxed && o != Order::acquire; }

// The memory that a proxy fence covers.
enum class Space : std::uint8_t { shared, global };
inline constexpr std::uint32_t space_count = 2;

// Each thread has three more actors for its copies: cp.async groups, the reads of bulk groups, and
// the writes of bulk groups (a ".read" wait covers only the reads).
// A warp's multiplications (wgmma) are one actor, because the warp waits for them as a whole. What
// a thread gives to the tensor cores (tcgen05.mma, cp) is one actor.
enum class Part : std::uint8_t { thread, group_copy, bulk_read, bulk_write, multiply, tensor_work };
inline constexpr std::uint32_t copy_parts = 3;

// 32 actors: [launch:22][block:32][row of the block:10]. A block has one row per warp for each
// Part, then one row per 32 mbarriers, whose actors perform the copies that complete on them.
using Row = std::uint64_t;
inline constexpr unsigned row_bits = 10, launch_shift = 42, warp_bits = 5;
inline constexpr std::uint32_t launch_limit = 1u << 22;  // numbers of launches
inline constexpr std::uint32_t first_mbarrier_row = 6u << warp_bits;
inline constexpr std::uint32_t mbarrier_limit = ((1u << row_bits) - first_mbarrier_row) * lanes;

constexpr Row block_row(std::uint64_t launch, std::uint64_t block) {
  return launch << launch_shift | (block & 0xffffffff) << row_bits;
}
constexpr Row warp_row(Row block, Part part, std::uint32_t warp) {
  return block | static_cast<Row>(part) << warp_bits | warp;
}
// Past the limit, mbarriers share actors. That can hide a conflict but never report a false one.
constexpr Row mbarrier_row(Row block, std::uint32_t index) {
  return block | (first_mbarrier_row + index % mbarrier_limit / lanes);
}
constexpr Row block_of(Row row) { return row >> row_bits; }
constexpr Row launch_of(Row row) { return row >> launch_shift; }
constexpr std::uint32_t local_row(Row row) { return row & ((1u << row_bits) - 1); }

// A thread's block, cluster and device, for scopes. A cluster's blocks have consecutive numbers.
struct Place {
  std::uint32_t device = 0;
  Row cluster = 0, cluster_end = 0;  // the range of rows of its blocks
  Row block = 0;
  // Its cluster has other blocks.
  bool in_cluster() const { return cluster_end - cluster != Row{1} << row_bits; }
};
// The smallest scope that includes both.
constexpr Scope level(const Place& a, const Place& b) {
  if (a.block == b.block) return Scope::cta;
  if (a.device != b.device) return Scope::sys;
  return a.cluster == b.cluster ? Scope::cluster : Scope::gpu;
}

}  // namespace inflight::order
