// What each launch and each copy of the host's comes after, from the events of streams.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "gpu/check/detect/races/children.hpp"
#include "gpu/check/detect/races/launches.hpp"
#include "gpu/check/order/streams.hpp"

namespace inflight::check::races {

class HostOrder {
 public:
  void edge(const StreamEdge& edge);
  // A kernel begins: what an edge said of it, or after all that the host knows.
  order::Streams::Launch launch(const Kernel& kernel);
  // A block of the launch of this number lets those behind begin: by a thread that has waited for
  // the kernels in front, or has not.
  void lets_begin(std::uint64_t stream, std::uint32_t number, bool has_waited);
  // A thread that knows so much launches a kernel, a copy or a fill.
  void child_launched(std::uint64_t child, const order::Knowledge& by);
  // A copy in the stream's work.
  order::Streams::Launch copy(const HostAccess& access);
  // An access by the program's own code. All between two edges are one.
  order::Streams::Launch touch();
  const Launches& launches() const { return launches_; }

  // Memory that kernels may touch; other memory of the host's comes and goes unseen.
  void made(const Allocation& allocation);
  void released(std::uint64_t address);
  bool is_allocated(std::uint64_t address) const;
  // May the host's code touch it, too?
  bool is_shared(std::uint64_t address) const;
  bool is_constant(std::uint64_t address) const;
  // A thread tells the host, by a flag in such memory, what it knows; and is told.
  void host_learns(const order::Knowledge& more);
  order::Knowledge host_knows() const;
  // Changes with what the host knows.
  std::uint64_t news() const { return news_.load(std::memory_order_relaxed); }

 private:
  order::Streams::Launch begin(const Kernel& kernel);
  mutable std::mutex mutex_;
  order::Streams streams_;
  Launches launches_;
  Children children_;
  std::unordered_map<std::uint64_t, order::Streams::Launch>
      coming_;                                                  // launches that an edge reported
  std::unordered_map<std::uint64_t, order::Knowledge> values_;  // written by streams, by address
  struct Range {
    std::uint64_t bytes = 0;
    bool shared = false;  // with the host
    bool constant = false;
  };
  const Range* range_of(std::uint64_t address) const;
  std::map<std::uint64_t, Range> allocations_;      // where each begins
  std::optional<order::Streams::Launch> touching_;  // what the next touch belongs to
  // No memory that is shared with the host lies outside.
  std::atomic<std::uint64_t> low_{~std::uint64_t{0}}, high_{0};
  std::atomic<std::uint64_t> news_{1};
};

}  // namespace inflight::check::races
