// Executes instructions ahead of a warp, on a copy of its registers.
#pragma once
#include <vector>

#include "gpu/machine/run/counts.hpp"
#include "gpu/machine/run/undefined_steps.hpp"

namespace inflight::machine {

// While it lives, the warp's registers are a copy, and what is executed is not counted. Its end
// restores the warp. One at a time lives on a host thread.
class OnCopy {
 public:
  explicit OnCopy(Warp& w);
  ~OnCopy();
  OnCopy(const OnCopy&) = delete;

  // The copy.
  LineBuffer& registers() { return copy_.registers; }
  // The first op of the instruction, if it has any. `op` is an op of it or of one before it.
  const Op* first(const Op* op, std::uint32_t instruction) const {
    const Op* const last = &w_.frame->code->ops.back();
    while (op != last && op->instruction < instruction) ++op;
    return op;
  }
  // Executes the ops of an instruction that only computes registers.
  void execute(const Op* op, std::uint32_t instruction) const {
    for (; op->instruction == instruction; ++op)
      if (!is_reporter(op) && !goes_elsewhere(op)) op->handler()(w_, op);
  }

 private:
  struct Copy {
    LineBuffer registers;
    std::vector<Count> counts;
  };
  static Copy& copy_of(const Frame& frame);

  Warp& w_;
  Copy& copy_;
  Count* const counts_;
  const std::uint32_t carry_, counted_lanes_;
  const OnVariant variant_;
};

}  // namespace inflight::machine
