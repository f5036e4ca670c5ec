// What each warp of a cluster can know to have happened, by any means of synchronisation.
//
// It is about the order of execution alone: a relaxed arrival lets go who waits for it as a
// releasing one does. In doubt a warp knows, so nothing is ever found for want of an edge.
#pragma once
#include <cstdint>
#include <vector>

namespace inflight::check {

class WarpOrder {
 public:
  using Time = std::uint64_t;  // of the cluster: counts what its warps did

  // What warps pass on to others at one place: a barrier, an mbarrier, memory.
  class Passed {
    friend class WarpOrder;
    std::vector<Time> until_;    // by warp: its steps up to then
    std::uint64_t version_ = 0;  // another for each content
    std::uint64_t giver_version_ = 0;
    std::uint32_t giver_ = ~0u;  // the last to pass something on
  };

  explicit WarpOrder(std::uint32_t warps) : rows_(warps) {}

  // A warp does something that others may come to know of.
  Time step(std::uint32_t warp);
  // Others that take() there know what `warp` has done and knows.
  void pass_on(std::uint32_t warp, Passed& at);
  void take(std::uint32_t warp, const Passed& at);
  // Its lanes meet.
  void meet(std::uint32_t warp) { rows_[warp].met = now_; }

  // Can `warp` know what `other` did at that time?
  bool knows(std::uint32_t warp, std::uint32_t other, Time then) const;
  // When lanes of this warp could last know what others of it had done.
  Time met(std::uint32_t warp) const { return rows_[warp].met; }

 private:
  struct Row {
    std::vector<Time> known;  // by warp; empty: nothing of others
    Time own = 0, met = 0;
    std::uint64_t version = 0, taken = 0;
  };
  Time now_ = 0;
  std::uint64_t versions_ = 0;
  std::vector<Row> rows_;
};

}  // namespace inflight::check
