// Plain loads that meet atomics of others: a mistake, unless the load only looks before the
// thread's own atomic on the same address. And lanes that write different values to one address by
// one store: a mistake, unless they look there which of them it was.
//
// `old = *p; do ... atomicCAS(p, ...)` and `if (v > *p) atomicMax(p, v)` read what others change,
// and the atomic puts it right. So such a conflict waits for the end of the later one's launch, and
// is dropped where the load's line has been seen, in any launch, to be one of these. Likewise
// `owner[slot] = lane; __syncwarp(); if (owner[slot] == lane)`: all lanes that wrote there read it
// together.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "gpu/check/detect/races/reporter.hpp"

namespace inflight::check::races {

class Suspicions {
 public:
  // Is it such a conflict of two threads? Then it is kept. `access`: the later one, of a warp;
  // null: of a copy, or of an mbarrier's operation.
  bool take(Reporter& reporter, const Scene& scene, const shadow::Conflict& conflict,
            const Access* access);
  // Threads of this warp read these addresses.
  void looked(order::Row block, const Access& access, Mask mask) {
    if (any_at_once_.load(std::memory_order_relaxed)) read_back(block, access, mask);
  }
  // A thread of this warp updates these addresses atomically.
  void updated(order::Row block, const Access& access, Mask mask);
  // Is anything kept? Then a look that met nothing, of a lane whose own atomic followed, says what
  // its line is.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  void look(PlaceId line);
  // Threads of the block meet: what they have loaded before is no look at what follows.
  void met(order::Row block);
  // Reports what remains of a launch, but for what it shares with another that runs: that is then
  // the other's.
  void end(std::uint32_t launch, const std::set<std::uint32_t>& running, Findings& findings);

 private:
  static constexpr std::size_t most_watched = 4096;
  struct Kept {
    std::uint32_t launch, other;  // of the later access and of the earlier one
    PlaceId line;                 // of the load, or of the store
    Finding finding;
  };
  struct Written {
    PlaceId line;
    Mask lanes;
  };
  bool take_at_once(Reporter& reporter, const Scene& scene, const shadow::Conflict& conflict,
                    Mask lanes);
  void keep(Reporter& reporter, const Scene& scene, const shadow::Conflict& conflict, PlaceId line);
  void read_back(order::Row block, const Access& access, Mask mask);

  std::mutex mutex_;
  std::atomic<bool> any_{false}, any_at_once_{false};
  std::map<std::pair<order::Row, std::uint64_t>, PlaceId> watched_;  // warp and address of a load
  std::map<std::pair<order::Row, std::uint64_t>, Written> written_;  // likewise of a store
  std::set<PlaceId> looks_;                                          // lines of loads, or of stores
  std::map<FindingKey, Kept> kept_;
};

}  // namespace inflight::check::races
