// What kernels, copies and fills come after that a kernel has launched.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "gpu/check/events.hpp"
#include "gpu/check/order/streams.hpp"

namespace inflight::check::races {

// One caller at a time.
class Children {
 public:
  // A thread that knows so much launches it.
  void launched(std::uint64_t child, const order::Knowledge& by);
  // It begins, in work of the stream.
  order::Streams::Launch begin(std::uint64_t child, const Descent& descent, std::uint64_t stream,
                               order::Streams& streams);
  // A launch of the host's, whose threads may launch others.
  void root(std::uint64_t launch, const order::Streams::Launch& began, std::uint64_t stream);
  // A piece of the stream's work is done, and all that came of it.
  void ended(std::uint64_t stream);

 private:
  struct Family {
    std::uint64_t parent = 0;  // 0: the host launched it
    std::uint64_t stream = 0;
    order::Knowledge done;  // it, and what came of it so far
  };
  std::unordered_map<std::uint64_t, order::Knowledge> launched_;
  std::unordered_map<std::uint64_t, Family> families_;  // by launch, of work that goes on
};

}  // namespace inflight::check::races
