// Maps roles and spaces to gpu/check's terms.
#include "gpu/machine/instruction/observed_access.hpp"

namespace inflight::machine {

using ptx::Space;

check::Access::Kind access_kind(MemoryOperand::Role role) {
  using Role = MemoryOperand::Role;
  switch (role) {
    case Role::store:
    case Role::tensor_map_target:
      return check::Access::Kind::store;
    case Role::atomic:
      return check::Access::Kind::atomic;
    case Role::reduction:
      return check::Access::Kind::reduction;
    default:
      return check::Access::Kind::load;
  }
}

check::Space check_space(Space space) {
  switch (space) {
    case Space::shared:
    case Space::shared_cta:
    case Space::shared_cluster:
      return check::Space::shared;
    case Space::local:
      return check::Space::local;
    case Space::constant:
      return check::Space::constant;
    case Space::param:
    case Space::param_entry:
    case Space::param_func:
      return check::Space::param;
    default:
      return check::Space::global;
  }
}

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
