// What is remembered of a cluster that runs: its mbarriers and barriers, and who can know what.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "gpu/check/detect/waiting/barrier_history.hpp"
#include "gpu/check/detect/waiting/mbarrier_history.hpp"
#include "gpu/check/detect/waiting/polls.hpp"

namespace inflight::check {

// Where a block stands in its cluster.
struct ClusterPlace {
  std::uint64_t first = 0;  // linear index of the cluster's first block
  std::uint32_t rank = 0;
};
ClusterPlace cluster_place(const Kernel& kernel, std::uint64_t block);

struct ClusterState {
  explicit ClusterState(const Kernel& kernel);

  std::uint32_t warp(const Who& who) const;  // its number in the cluster
  Mask lanes_of(const Who& who) const;       // that the warp began with
  MbarrierHistory& mbarrier(std::uint32_t rank, std::uint32_t address) {
    return mbarriers[{rank, address}];
  }
  const MbarrierHistory* find(std::uint32_t rank, std::uint32_t address) const;
  Spot spot(const Access& access, int lane) const;

  const Kernel* kernel;
  std::uint32_t block_threads, block_warps, size;  // size: blocks
  // Who can know what matters only once there is something that more than a block's plain barrier
  // orders.
  bool ordered;
  bool found = false;  // a mistake, which what comes after may follow from
  // Bytes that another block's copies brought too early: to be told unless an arrival is found that
  // let them.
  struct Held {
    MbarrierBreach breach;
    const MbarrierHistory* history;
    std::uint64_t block;
    std::uint32_t address;
  };
  std::optional<Held> held;
  WarpOrder order;
  WarpOrder::Passed memory;  // by strong accesses and fences
  std::map<std::pair<std::uint32_t, std::uint32_t>, MbarrierHistory> mbarriers;
  std::vector<BlockBarriers> barriers;         // by rank
  std::map<std::uint32_t, WarpPolls> polls;    // by warp: of those that looked at memory
  std::map<std::uint32_t, WarpWrites> writes;  // likewise: of those that wrote for others
  ClusterBarrier barrier;
};

}  // namespace inflight::check
