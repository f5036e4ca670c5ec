// Order of kernels, copies and fills that a kernel has launched.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "gpu/check/events.hpp"
#include "gpu/check/order/streams.hpp"

namespace inflight::check::races {

// Not thread-safe: one caller at a time.
class Children {
 public:
  // A thread with the knowledge `by` launches `child`.
  void launched(std::uint64_t child, const order::Knowledge& by);
  // `child` begins, as part of the stream's current work.
  order::Streams::Launch begin(std::uint64_t child, const LaunchOrigin& origin,
                               std::uint64_t stream, order::Streams& streams);
  // A thread of the launch has learnt this from elsewhere, which what follows it knows.
  void learnt(std::uint64_t launch, const order::Knowledge& more);
  // A launch by the host, whose threads may launch others.
  void root(std::uint64_t launch, const order::Streams::Launch& began, std::uint64_t stream);
  // A piece of the stream's work has ended, with all launches that it led to.
  void ended(std::uint64_t stream);

 private:
  struct Family {
    std::uint64_t parent = 0;  // 0: the host launched it
    std::uint64_t stream = 0;
    order::Knowledge done;  // known after it and its descendants so far
  };
  std::unordered_map<std::uint64_t, order::Knowledge> launched_;
  std::unordered_map<std::uint64_t, Family> families_;  // by launch, of work that has not ended
};

}  // namespace inflight::check::races
