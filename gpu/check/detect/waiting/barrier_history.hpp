// The state of one block's barriers, and the rules that their use breaks.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/check/detect/waiting/warp_order.hpp"
#include "gpu/check/events.hpp"

namespace inflight::check {

struct BarrierArrival {
  Who who;
  std::uint32_t warp = 0;     // in the cluster
  std::uint32_t threads = 0;  // number that it counts for
  bool waits = false, aligned = false;
  WarpOrder::Time time = 0;
};

struct BarrierPhase {
  std::uint64_t number = 0;
  std::uint32_t expected = 0;  // threads; 0: all live ones
  std::uint32_t arrived = 0;
  std::uint32_t whole_warps = 0;  // number of arrivals of all 32 lanes, which wait
  std::vector<BarrierArrival> arrivals;
};

struct BarrierBreach {
  enum class What : std::uint8_t {
    arrived_twice,    // in one phase
    counts_differ,    // thread counts of arrivals in one phase
    not_whole_warps,  // a count that is no multiple of the warp size
    stray_arrival,    // by threads that cannot know that the previous phase is complete
    warp_parted,      // lanes of one warp at two different aligned instructions
    cluster_arrived_twice,
    cluster_wait_alone,  // without having arrived
    others_ended,        // a barrier of all threads lacks those that have exited
    others_passed,       // those were at this barrier while these were at another one
    left_out,            // lanes execute the instruction but are not in its member mask
    gone_past,           // lanes in the member mask exited without executing the instruction
    count_,
  };
  What what = What::arrived_twice;
  Who who;
  std::vector<BarrierArrival> others;
  std::uint32_t id = 0;
  std::uint32_t count = 0;  // the instruction's thread count
  std::uint32_t came = 0;   // threads that arrived
  Mask members = 0;         // for left_out and gone_past
  Mask absent = 0;          // for gone_past
};

class BlockBarriers {
 public:
  using Breaches = std::vector<BarrierBreach>;
  // `threads`: the block's number of threads. `warp`: the event's warp, numbered in the cluster.
  void note(const Barrier& event, std::uint32_t warp, std::uint32_t threads, WarpOrder& order,
            Breaches& out);
  // Lanes of `warp` have exited, which threads at a barrier of all threads come to know.
  void exited(std::uint32_t warp, WarpOrder& order);
  // The same, of barriers of all threads. Call it for each exit.
  void left(std::uint32_t warp, Mask lanes);
  // The arrival of any of these lanes in the last complete phase of the barrier, or null.
  const BarrierArrival* last_of(std::uint32_t id, std::uint32_t warp, Mask lanes) const;
  const BarrierPhase& phase(std::uint32_t id) const {
    static const BarrierPhase none;
    return id < barriers_.size() ? barriers_[id].current : none;
  }

 private:
  struct Observer {
    std::uint32_t warp = 0;
    WarpOrder::Time time = 0;
  };
  struct Named {
    BarrierPhase current;
    std::vector<BarrierArrival> last;      // arrivals of the last complete phase
    std::vector<BarrierArrival> previous;  // the same, if they matter for the next phase
    std::uint32_t previous_expected = 0;   // threads; 0: all of the block
    std::vector<Observer> observers;       // warps that waited for the previous phase
    WarpOrder::SyncClock passed;
    // The last phase of all threads, if they arrived at different instructions.
    std::vector<BarrierArrival> mixed;
  };
  // The last arrival of threads that have exited, and those in its phase at other instructions.
  struct Left {
    BarrierArrival last;
    std::vector<BarrierArrival> met;
  };
  void find_passed(const BarrierPhase& phase, Breaches& out) const;
  static bool may_know_previous(const Named& barrier, std::uint32_t warp, const WarpOrder& order);
  static std::vector<BarrierArrival> gone_since(const Named& barrier);
  void complete(Named& barrier, std::uint32_t threads, WarpOrder& order, Breaches& out);
  static constexpr std::uint32_t most = 16;
  std::vector<Named> barriers_;  // up to the highest one used
  std::vector<Left> left_;
};

// A cluster's barrier: each thread must alternate arrive and wait.
class ClusterBarrier {
 public:
  void note(const Barrier& event, std::uint32_t warp, WarpOrder& order,
            BlockBarriers::Breaches& out);
  void exited(std::uint32_t warp, WarpOrder& order) { order.release(warp, passed_); }

 private:
  struct Arrived {
    Mask lanes = 0;
    Who who;
  };
  std::vector<Arrived> arrived_;  // by warp: lanes that have arrived and not yet waited
  WarpOrder::SyncClock passed_, completed_;
};

}  // namespace inflight::check
