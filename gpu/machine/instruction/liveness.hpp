// The lifetimes of registers.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// The first and last position at which a register holds a value that may still be read. Positions
// follow layout order: an instruction reads at an even position and writes at the next, odd one.
struct Lifetime {
  std::uint32_t begin = ~0u, end = 0;
  bool lives() const { return begin != ~0u; }
  void extend(std::uint32_t position) {
    begin = std::min(begin, position);
    end = std::max(end, position);
  }
};

// The lifetime of each register of the function.
std::vector<Lifetime> lifetimes(const Function& function);

}  // namespace inflight::machine
