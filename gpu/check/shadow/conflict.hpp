// Two accesses without an order between them, and why there is none.
#pragma once
#include "gpu/check/shadow/record.hpp"

namespace inflight::shadow {

enum class Why : std::uint8_t {
  no_edge,           // no synchronisation leads from one to the other
  weak_edge,         // a strong access or barrier does, but its order or scope is too weak
  by_texture,        // ordered, but read by a path that need not observe writes of its own launch
  proxy_fence,       // ordered, but written by the generic proxy and used by the async proxy
  not_committed,     // the thread's own copy, in a group that it has not committed
  not_waited,        // the thread's own copy, for which it has not waited
  allowed_too_many,  // the thread's own copy: its wait allowed `allowed` groups, more than `needed`
  at_once,           // copies or stores of two lanes by one instruction
  not_observed,  // another thread's copy, or one on an mbarrier, whose completion was not observed
};

// Why a pair is a warning only: PTX says what comes of it, but CUDA C++ calls it a data race; or
// PTX asks for a fence that programs do without.
enum class Excuse : std::uint8_t {
  none,
  same_value,     // both write the same value
  peek,           // a plain load and an atomic: the load's thread goes on with an atomic there
  volatile_data,  // both are volatile, or one is and the other is a strong write
  unfenced_read,  // read by the generic proxy, then written by the async proxy without a proxy
                  // fence
  staged,         // written by a copy from pageable memory, whose call has returned
};

struct Side {
  order::Row row = 0;
  unsigned lane = 0;
  order::Epoch epoch = 0;
  std::uint32_t place = 0;
  bool write = false, strong = false, async = false, update = false;
  order::Scope scope = order::Scope::cta;
  order::Mask lanes = 0;  // `lane`, and other lanes of its row that did the same there
};

struct Conflict {
  Why why = Why::no_edge;
  Side earlier, later;
  std::uint64_t address = 0;  // first byte that both access
  std::uint32_t bytes = 0;    // of this pair, in this line
  std::uint32_t allowed = 0, needed = 0;
  Excuse excuse = Excuse::none;
};

}  // namespace inflight::shadow
