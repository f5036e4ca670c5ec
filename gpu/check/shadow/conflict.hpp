// Two accesses that nothing orders, and what would have.
#pragma once
#include "gpu/check/shadow/record.hpp"

namespace inflight::shadow {

enum class Why : std::uint8_t {
  no_edge,        // nothing leads from the one to the other
  weak_edge,      // a strong access or barrier leads there, but its order or scope is too weak
  by_texture,     // ordered, but read by a path that need not see what its own launch has written
  proxy_fence,    // ordered, but written through the generic proxy and used through the async one
  not_committed,  // the thread's own copy, in a group that it has not committed
  not_waited,     // the thread's own copy, for which it has not waited
  allowed_too_many,  // the thread's own copy: its wait let `allowed` groups go on, `needed` at most
  at_once,           // copies or stores of two lanes, by one instruction
  not_observed,      // another's copy, or one on an mbarrier, of whose completion nothing tells
};

struct Side {
  order::Row row = 0;
  unsigned lane = 0;
  order::Epoch epoch = 0;
  std::uint32_t place = 0;
  bool write = false, strong = false, async = false;
  order::Scope scope = order::Scope::cta;
  order::Mask lanes = 0;  // `lane` and its row's others that did the same there
};

struct Conflict {
  Why why = Why::no_edge;
  Side earlier, later;
  std::uint64_t address = 0;  // the first byte of both
  std::uint32_t bytes = 0;    // of this pair, in this line
  std::uint32_t allowed = 0, needed = 0;
};

}  // namespace inflight::shadow
