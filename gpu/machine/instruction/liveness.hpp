// Which registers live when.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// From the first to the last position at which a register holds what somebody may still read.
// Positions follow the order of layout: an instruction reads at an even one and writes at the odd
// one behind it.
struct Lifetime {
  std::uint32_t begin = ~0u, end = 0;
  bool lives() const { return begin != ~0u; }
  void extend(std::uint32_t position) {
    begin = std::min(begin, position);
    end = std::max(end, position);
  }
};

// By register of the function.
std::vector<Lifetime> lifetimes(const Function& function);

}  // namespace inflight::machine
