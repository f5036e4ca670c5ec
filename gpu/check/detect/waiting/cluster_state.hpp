// The state of a running cluster: its mbarriers, barriers and polls, and what its warps can know.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "gpu/check/detect/waiting/barrier_history.hpp"
#include "gpu/check/detect/waiting/mbarrier_history.hpp"
#include "gpu/check/detect/waiting/polls.hpp"

namespace inflight::check {

// A block's position in its cluster.
struct ClusterPlace {
  std::uint64_t first = 0;  // linear index of the cluster's first block
  std::uint32_t rank = 0;
};
ClusterPlace cluster_place(const Kernel& kernel, std::uint64_t block);

// The location of an mbarrier.
struct MbarrierPlace {
  std::uint64_t block = 0;  // linear index of the block whose shared memory it is in
  std::uint32_t address = 0;
};

struct ClusterState {
  explicit ClusterState(const Kernel& kernel);

  // The warp's number in the cluster.
  std::uint32_t warp(const Who& who) const { return size == 1 ? who.warp : warp_in_cluster(who); }
  Mask lanes_of(const Who& who) const;  // lanes that the warp began with
  MbarrierHistory& mbarrier(std::uint32_t rank, std::uint32_t address) {
    if (!last_mbarrier || last_rank != rank || last_address != address) {
      last_mbarrier = &mbarriers[{rank, address}];
      last_rank = rank, last_address = address;
    }
    return *last_mbarrier;
  }
  const MbarrierHistory* find(std::uint32_t rank, std::uint32_t address) const;
  Spot spot(const Access& access, int lane) const;

  const Kernel* kernel;
  std::uint32_t block_threads, block_warps, size;  // size: number of blocks
  // `order` is kept. It is not needed while plain barriers of a block are all that orders threads.
  bool ordered;
  bool found = false;  // a mistake was reported, of which later ones may be consequences
  // Bytes that another block's copies delivered too early. Reported unless an early arrival is
  // found that explains them, or the mbarrier is initialised only then.
  struct Held {
    MbarrierBreach breach;
    const MbarrierHistory* history;
    std::uint64_t block;
    std::uint32_t address;
  };
  std::optional<Held> held;
  WarpOrder order;
  WarpOrder::SyncClock memory;  // passed on by strong accesses and fences
  // What warps pass on to their warpgroup by wgmma, by its first warp.
  std::map<std::uint32_t, WarpOrder::SyncClock> multiplies;
  std::map<std::pair<std::uint32_t, std::uint32_t>, MbarrierHistory> mbarriers;
  std::vector<BlockBarriers> barriers;  // by rank
  // By warp: how often it read what other threads may have changed, met them or voted.
  std::vector<std::uint64_t> learnt;
  std::map<std::uint32_t, WarpPolls> polls;    // by warp, of those that polled memory
  std::map<std::uint32_t, WarpWrites> writes;  // by warp, of those that wrote what others may poll
  ClusterBarrier barrier;

 private:
  MbarrierHistory* last_mbarrier = nullptr;  // the last that was looked up
  std::uint32_t last_rank = 0, last_address = 0;
  std::uint32_t warp_in_cluster(const Who& who) const;
};

}  // namespace inflight::check
