// What each warp of a cluster can know to have happened, by any means of synchronisation.
//
// It models only the order of execution: a relaxed arrival releases waiting threads as a releasing
// one does. In doubt a warp knows, so a missing edge never causes a false finding.
#pragma once
#include <cstdint>
#include <vector>

namespace inflight::check {

class WarpOrder {
 public:
  using Time = std::uint64_t;  // the cluster's logical time: the number of its warps' steps

  // What warps pass on to others through a barrier, an mbarrier or memory.
  class Passed {
    friend class WarpOrder;
    std::vector<Time> until_;    // by warp: its steps up to this time are known
    std::uint64_t version_ = 0;  // differs for each content
    std::uint64_t giver_version_ = 0;
    std::uint32_t giver_ = ~0u;  // the last to pass something on
  };

  explicit WarpOrder(std::uint32_t warps) : rows_(warps) {}

  // A warp does something that others may come to know of. Returns its time.
  Time step(std::uint32_t warp);
  // Warps that take() from `at` then know what `warp` has done and knows.
  void pass_on(std::uint32_t warp, Passed& at);
  void take(std::uint32_t warp, const Passed& at);
  // The warp's lanes synchronise with each other.
  void meet(std::uint32_t warp) { rows_[warp].met = now_; }

  // Can `warp` know what `other` did at that time?
  bool knows(std::uint32_t warp, std::uint32_t other, Time then) const;
  // The last time at which the lanes of this warp could know what its other lanes had done.
  Time met(std::uint32_t warp) const { return rows_[warp].met; }

 private:
  struct Row {
    std::vector<Time> known;  // by warp; empty: it knows nothing of others
    Time own = 0, met = 0;
    std::uint64_t version = 0, taken = 0;
  };
  Time now_ = 0;
  std::uint64_t versions_ = 0;
  std::vector<Row> rows_;
};

}  // namespace inflight::check
