// Kinds of conflicts that depend on later accesses. A plain load that conflicts with another
// thread's atomic is a warning only before the thread's own atomic on the same address. Lanes that
// write different values to one address by one store are correct if they read back which of them
// was stored. Volatile accesses are correct if a thread polls the location.
//
// `old = *p; do ... atomicCAS(p, ...)` and `if (v > *p) atomicMax(p, v)` read what other threads
// change, and the atomic corrects it. So such a conflict is kept until the end of the later
// access's launch, and is only a warning if the load's line was seen, in any launch, to be one of
// these. Likewise for `owner[slot] = lane; __syncwarp(); if (owner[slot] == lane)`, if all lanes
// that wrote the address read it together.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "gpu/check/detect/races/flags.hpp"
#include "gpu/check/detect/races/reporter.hpp"

namespace inflight::check::races {

// Thread-safe.
class Candidates {
 public:
  explicit Candidates(const Flags& flags) : flags_(flags) {}
  // Keeps the conflict and returns true if it is such a one of two threads. `access`: the later
  // access, or null if that is a copy or an mbarrier operation.
  bool take(Reporter& reporter, const Scene& scene, const shadow::Conflict& conflict,
            const Access* access);
  // Keeps a conflict of volatile accesses to the location `key`.
  void keep_volatile(Reporter& reporter, const Scene& scene, const shadow::Conflict& conflict,
                     std::uint64_t key);
  // Threads of this warp read these addresses.
  void check_read_back(order::Row block, const Access& access, Mask mask) {
    if (any_at_once_.load(std::memory_order_relaxed)) read_back(block, access, mask);
  }
  // Whether check_read_back() may find anything.
  bool any_at_once() const { return any_at_once_.load(std::memory_order_relaxed); }
  // A thread of this warp updates these addresses atomically.
  void updated(order::Row block, const Access& access, Mask mask);
  // Whether any conflict is kept. Only then is mark_correct() needed.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  // A load at this line was followed by its lane's own atomic on the same address.
  void mark_correct(PlaceId line);
  // A barrier of the block: earlier loads do not belong to later atomics.
  void barrier(order::Row block);
  // Reports the remaining conflicts of a launch that has ended. Those with another launch that
  // still runs are kept until that one ends.
  void end(std::uint32_t launch, const std::set<std::uint32_t>& running, Findings& findings);

 private:
  static constexpr std::size_t most_watched = 4096;
  struct Kept {
    std::uint32_t launch, other;  // of the later access and of the earlier one
    PlaceId line;                 // of the load, or of the store
    Finding finding;
    std::uint64_t location = 0;                                  // of volatile accesses; 0: others
    std::optional<std::pair<FindingKey, Finding>> warning = {};  // if the line is correct
  };
  struct WrittenAtOnce {
    PlaceId line;
    Mask lanes;
  };
  bool take_at_once(Reporter& reporter, const Scene& scene, const shadow::Conflict& conflict,
                    Mask lanes);
  void keep(Reporter& reporter, const Scene& scene, const shadow::Conflict& conflict, PlaceId line);
  void read_back(order::Row block, const Access& access, Mask mask);

  const Flags& flags_;
  std::mutex mutex_;
  std::atomic<bool> any_{false}, any_at_once_{false};
  std::map<std::pair<order::Row, std::uint64_t>, PlaceId> watched_;  // warp and address of a load
  std::map<std::pair<order::Row, std::uint64_t>, WrittenAtOnce> written_;  // the same of a store
  std::set<PlaceId> correct_;  // lines of correct loads and stores
  std::map<FindingKey, Kept> kept_;
};

}  // namespace inflight::check::races
