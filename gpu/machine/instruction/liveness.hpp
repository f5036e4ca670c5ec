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

// The registers whose values may still be read after each block.
using LiveOut = std::vector<std::vector<std::uint32_t>>;

// The lifetime of each register of the function. If `live_out` is not null, fills it too.
std::vector<Lifetime> lifetimes(const Function& function, LiveOut* live_out = nullptr);

// The most that the registers live at one place sum up to. `words`: of each register. A lifetime
// has no gaps, so more lifetimes overlap than registers are live.
std::uint32_t most_live(const Function& function, const LiveOut& live_out,
                        const std::vector<std::uint32_t>& words);

}  // namespace inflight::machine
