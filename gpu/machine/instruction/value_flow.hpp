// Where a value goes that an instruction loads, as far as its function shows.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// An instruction that makes something of the value.
struct ValueSink {
  std::uint32_t instruction = 0;  // index in the function
  std::uint8_t element = 0;       // of a vector that is loaded
  // It stores the value as it is, in `target` of a vector; else it stores what was computed from
  // it, or takes it as an address. The load's own: a branch behind it in its basic block asks for
  // it.
  bool as_is = false;
  std::uint8_t target = 0;
};

struct ValueFlow {
  std::uint32_t elements = 1;  // of the vector that is loaded
  std::vector<ValueSink> sinks;
};

// Paths are followed through registers, whatever the branches. They end where other lanes, other
// functions or a tensor core take the value, and where a `selp` or another path may drop it: what
// becomes of it there is not known.
ValueFlow value_flow(const Function& function, std::uint32_t load);

}  // namespace inflight::machine
