// What each warp of a cluster can know to have happened, by any means of synchronisation.
//
// It models only the order of execution: a relaxed arrival releases waiting threads as a releasing
// one does. In doubt a warp knows, so a missing edge never causes a false finding.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace inflight::check {

class WarpOrder {
 public:
  using Time = std::uint64_t;  // the cluster's logical time: the number of its warps' steps

  // What warps pass on to others through a barrier, an mbarrier or memory.
  class SyncClock {
    friend class WarpOrder;
    std::vector<Time> until_;    // by warp: its steps up to this time are known
    std::uint64_t version_ = 0;  // differs for each content
    std::uint64_t releaser_version_ = 0;
    std::uint32_t releaser_ = ~0u;  // the last to pass something on
  };

  explicit WarpOrder(std::uint32_t warps) : rows_(warps) {}

  // A warp does something that others may come to know of. Returns its time.
  Time step(std::uint32_t warp);
  // Warps that acquire() from `at` then know what `warp` has done and knows.
  void release(std::uint32_t warp, SyncClock& at);
  void acquire(std::uint32_t warp, const SyncClock& at);
  // All warps of the cluster synchronise: each then knows what all have done.
  void meet() { met_ = now_; }
  // The warp's lanes synchronise with each other.
  void sync_lanes(std::uint32_t warp) { rows_[warp].last_sync = now_; }

  // Can `warp` know what `other` did at that time?
  bool knows(std::uint32_t warp, std::uint32_t other, Time then) const;
  // The last time at which the lanes of this warp could know what its other lanes had done.
  Time last_sync(std::uint32_t warp) const { return std::max(rows_[warp].last_sync, met_); }
  std::size_t warps() const { return rows_.size(); }

 private:
  struct Row {
    std::vector<Time> known;  // by warp; empty: it knows nothing of others
    Time own = 0, last_sync = 0;
    std::uint64_t version = 0, acquired = 0;
  };
  Time now_ = 0, met_ = 0;
  std::uint64_t versions_ = 0;
  std::vector<Row> rows_;
};

}  // namespace inflight::check
