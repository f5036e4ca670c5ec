// What happened to the barriers of one block, and what of it breaks the rules.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/check/detect/waiting/warp_order.hpp"
#include "gpu/check/events.hpp"

namespace inflight::check {

struct BarrierArrival {
  Who who;
  std::uint32_t warp = 0;     // in the cluster
  std::uint32_t threads = 0;  // that it counts for
  bool waits = false, aligned = false;
  WarpOrder::Time time = 0;
};

struct BarrierPhase {
  std::uint64_t number = 0;
  std::uint32_t expected = 0;  // threads; 0: all that live
  std::uint32_t arrived = 0;
  std::vector<BarrierArrival> arrivals;
};

struct BarrierBreach {
  enum class What : std::uint8_t {
    arrived_twice,    // in one phase
    counts_differ,    // of threads that arrive in one phase
    not_whole_warps,  // a count that is no multiple of the warp's size
    stray_arrival,    // by threads that cannot know that the phase before is complete
    warp_parted,      // lanes of one warp at two aligned instructions
    cluster_arrived_twice,
    cluster_wait_alone,  // without having arrived
    others_ended,        // threads that have ended are missing, of a barrier of all
    left_out,            // a member mask without lanes that execute the instruction
    gone_past,           // a member mask with lanes that have ended without executing it
  };
  What what = What::arrived_twice;
  Who who;
  std::vector<BarrierArrival> others;
  std::uint32_t id = 0;
  std::uint32_t count = 0;  // as the instruction has it
  std::uint32_t came = 0;   // threads
  Mask members = 0;         // of left_out and gone_past
  Mask absent = 0;          // of gone_past
};

class BlockBarriers {
 public:
  using Breaches = std::vector<BarrierBreach>;
  // `threads`: of the block; `warp`: of who, in the cluster.
  void note(const Barrier& event, std::uint32_t warp, std::uint32_t threads, WarpOrder& order,
            Breaches& out);
  // Lanes of `warp` have exited: who waits for all knows.
  void exited(std::uint32_t warp, WarpOrder& order);
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
    std::vector<BarrierArrival> previous;  // arrivals, where they matter
    std::vector<Observer> observers;       // of the previous phase
    WarpOrder::Passed passed;
  };
  static bool may_know_previous(const Named& barrier, std::uint32_t warp, const WarpOrder& order);
  static void complete(Named& barrier, std::uint32_t threads, WarpOrder& order, Breaches& out);
  static constexpr std::uint32_t most = 16;
  std::vector<Named> barriers_;  // up to the last one that was used
};

// A cluster's barrier: arrive and wait in turn.
class ClusterBarrier {
 public:
  void note(const Barrier& event, std::uint32_t warp, WarpOrder& order,
            BlockBarriers::Breaches& out);
  void exited(std::uint32_t warp, WarpOrder& order) { order.pass_on(warp, passed_); }

 private:
  struct Arrived {
    Mask lanes = 0;
    Who who;
  };
  std::vector<Arrived> arrived_;  // by warp: those that have not waited
  WarpOrder::Passed passed_, completed_;
};

}  // namespace inflight::check
