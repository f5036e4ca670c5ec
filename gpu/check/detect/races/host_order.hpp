// Order of launches and of the host's copies, from stream events.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "gpu/check/detect/races/children.hpp"
#include "gpu/check/detect/races/launches.hpp"
#include "gpu/check/order/streams.hpp"

namespace inflight::check::races {

// Thread-safe.
class HostOrder {
 public:
  void edge(const StreamEdge& edge);
  // A kernel begins. It comes after what its edge reported, or else after all that the host knows.
  order::Streams::Launch launch(const Kernel& kernel);
  // As in Streams.
  void has_waited(std::uint64_t stream, std::uint32_t number);
  void launch_dependents(std::uint64_t stream, std::uint32_t number, bool has_waited);
  // A thread of the launch has learnt this from elsewhere, which what follows it knows.
  void learnt(const Launch& launch, std::uint32_t number, const order::Knowledge& more);
  // As Streams::waited.
  order::Knowledge waited(std::uint32_t number) const;
  void ended(std::uint32_t number);  // a launch
  // A thread with the knowledge `by` launches a kernel, a copy or a fill.
  void child_launched(std::uint64_t child, const order::Knowledge& by);
  // A copy or fill by the host, in a stream's work or by a kernel's launch.
  order::Streams::Launch copy(const HostAccess& access);
  // Whether the row is of the arrival of a staged copy's bytes, and `knows` has that its source has
  // been read. So if it does not have the arrival, only that is missing.
  bool knows_staged(const order::Clock& knows, order::Row row) const;
  // An access by the program's own code. All accesses between two edges are one launch.
  order::Streams::Launch touch();
  const Launches& launches() const { return launches_; }

  // Memory that kernels may access. Other host memory is not tracked.
  void made(const Allocation& allocation);
  void released(std::uint64_t address);
  bool is_allocated(std::uint64_t address) const;
  // Whether host code may access it too.
  bool is_shared(std::uint64_t address) const;
  bool is_constant(std::uint64_t address) const;
  // Synchronisation by a flag in memory that the host may access: what a thread publishes to the
  // host, and what it acquires from it.
  void host_learns(const order::Knowledge& more);
  order::Knowledge host_knows() const;
  // A number that increases when the host may have something new to publish.
  std::uint64_t news() const { return news_.load(std::memory_order_relaxed); }

 private:
  order::Streams::Launch begin(const Kernel& kernel);
  mutable std::mutex mutex_;
  order::Streams streams_;
  Launches launches_;
  Children children_;
  std::unordered_map<std::uint64_t, order::Streams::Launch>
      coming_;                                                  // launches reported by an edge
  std::unordered_map<std::uint64_t, order::Knowledge> values_;  // written by streams, by address
  std::vector<std::uint32_t> staged_;  // the numbers of staged copies, in ascending order
  struct Range {
    std::uint64_t bytes = 0;
    bool shared = false;  // host code may access it
    bool constant = false;
  };
  const Range* range_of(std::uint64_t address) const;
  std::map<std::uint64_t, Range> allocations_;      // by first address
  std::optional<order::Streams::Launch> touching_;  // the launch of the next touch()
  // Bounds of all memory that is shared with the host.
  std::atomic<std::uint64_t> low_{~std::uint64_t{0}}, high_{0};
  std::atomic<std::uint64_t> news_{1};
};

}  // namespace inflight::check::races
