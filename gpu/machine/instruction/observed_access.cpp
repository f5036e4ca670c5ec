// Maps roles and spaces to gpu/check's terms.
#include "gpu/machine/instruction/observed_access.hpp"

namespace inflight::machine {

using ptx::Space;

bool is_observed(const MemoryOperand& m, const ptx::Function& function) {
  return m.role <= MemoryOperand::Role::reduction &&
         (check_space(m.space) != check::Space::param || function.entry);
}

bool is_plain(const MemoryOperand& m) {
  const check::Space space = check_space(m.space);
  return m.order == check::Order::weak || space == check::Space::local ||
         space == check::Space::param || space == check::Space::constant;
}

const MemoryOperand* observed_access(const Instruction& in, const ptx::Function& function) {
  for (const MemoryOperand& m : in.memory)
    if (is_observed(m, function)) return &m;
  return nullptr;
}

}  // namespace inflight::machine
