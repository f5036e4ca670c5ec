// Who acts: threads and the asynchronous copies that stand beside them, 32 in a row, numbered so
// that what one warp, block or launch did is one aligned range.
#pragma once
#include <cstdint>

namespace inflight::order {

using Mask = std::uint32_t;  // bit l: actor l of a row
using Epoch =
    std::uint32_t;  // time in a block: it counts what any of the block's threads published
inline constexpr Epoch always = 0xffffffff;  // later than everything: a launch that has ended
inline constexpr std::uint32_t lanes = 32;

enum class Scope : std::uint8_t { cta, cluster, gpu, sys };
inline constexpr std::uint32_t scope_count = 4;
enum class Order : std::uint8_t { relaxed, acquire, release, acq_rel, sc };
constexpr bool acquires(Order o) { return o != Order::relaxed && o != Order::release; }
constexpr bool releases(Order o) { return o != Order::relaxed && o != Order::acquire; }

// The memory that a proxy fence covers.
enum class Space : std::uint8_t { shared, global };
inline constexpr std::uint32_t space_count = 2;

// Beside each thread stand three actors that perform its copies: those of cp.async groups, and the
// reads and the writes of bulk groups (".read" waits for reads alone).
// A warp's multiplications are one actor, which it waits for as a whole.
enum class Part : std::uint8_t { thread, group_copy, bulk_read, bulk_write, multiply };
inline constexpr std::uint32_t copy_parts = 3;

// 32 actors: [launch:22][block:32][row of the block:10]. Rows of a block: a row a warp for each
// Part, then one for every 32 mbarriers, whose actors perform the copies that complete on them.
using Row = std::uint64_t;
inline constexpr unsigned row_bits = 10, launch_shift = 42, warp_bits = 5;
inline constexpr std::uint32_t launch_limit = 1u << 22;  // numbers of launches
inline constexpr std::uint32_t first_mbarrier_row = 5u << warp_bits;
inline constexpr std::uint32_t mbarrier_limit = ((1u << row_bits) - first_mbarrier_row) * lanes;

constexpr Row block_row(std::uint64_t launch, std::uint64_t block) {
  return launch << launch_shift | (block & 0xffffffff) << row_bits;
}
constexpr Row warp_row(Row block, Part part, std::uint32_t warp) {
  return block | static_cast<Row>(part) << warp_bits | warp;
}
// Past the limit mbarriers share actors, which can hide a conflict and never invents one.
constexpr Row mbarrier_row(Row block, std::uint32_t index) {
  return block | (first_mbarrier_row + index % mbarrier_limit / lanes);
}
constexpr Row block_of(Row row) { return row >> row_bits; }
constexpr Row launch_of(Row row) { return row >> launch_shift; }
constexpr std::uint32_t local_row(Row row) { return row & ((1u << row_bits) - 1); }

// Where a thread stands, for scopes. Blocks are numbered so that those of a cluster follow each
// other.
struct Place {
  std::uint32_t device = 0;
  Row cluster = 0, cluster_end = 0;  // its blocks' rows
  Row block = 0;
};
// The smallest scope that includes both.
constexpr Scope level(const Place& a, const Place& b) {
  if (a.block == b.block) return Scope::cta;
  if (a.device != b.device) return Scope::sys;
  return a.cluster == b.cluster ? Scope::cluster : Scope::gpu;
}

}  // namespace inflight::order
