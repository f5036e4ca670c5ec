// How much work a search over a function may be.
#pragma once
#include <algorithm>
#include <cstdint>

#include "gpu/machine/instruction/function.hpp"

namespace inflight::machine {

// Steps that are left. Searches from each of many instructions over the same code could take the
// square of its length. No function that a compiler writes comes near the limit.
class Effort {
 public:
  explicit Effort(const Function& function) : left_(least + each * function.body.size()) {}
  // Takes steps. False: too few are left, now and from now on.
  bool spend(std::uint64_t steps) {
    left_ -= std::min(left_, steps);
    return left_ != 0;
  }

 private:
  static constexpr std::uint64_t least = 1 << 22, each = 256;  // by instruction
  std::uint64_t left_;
};

}  // namespace inflight::machine
