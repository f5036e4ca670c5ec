// What each launch and each copy of the host's comes after, from the events of streams.
#pragma once
#include <map>
#include <mutex>
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
  // A thread that knows so much launches a kernel, a copy or a fill.
  void child_launched(std::uint64_t child, const order::Knowledge& by);
  // A copy in the stream's work.
  order::Streams::Launch copy(const HostAccess& access);
  const Launches& launches() const { return launches_; }

  // Memory that kernels may touch; other memory of the host's comes and goes unseen.
  void made(std::uint64_t address, std::uint64_t bytes);
  void released(std::uint64_t address);
  bool is_allocated(std::uint64_t address) const;

 private:
  order::Streams::Launch begin(const Kernel& kernel);
  mutable std::mutex mutex_;
  order::Streams streams_;
  Launches launches_;
  Children children_;
  std::unordered_map<std::uint64_t, order::Streams::Launch>
      coming_;                                                  // launches that an edge reported
  std::unordered_map<std::uint64_t, order::Knowledge> values_;  // written by streams, by address
  std::map<std::uint64_t, std::uint64_t> allocations_;          // where each begins, and its bytes
};

}  // namespace inflight::check::races
