// Roles and spaces in the words of gpu/check.
#include "gpu/machine/instruction/observed_access.hpp"

namespace inflight::machine {

using ptx::Space;

check::Access::Kind access_kind(MemoryOperand::Role role) {
  using Role = MemoryOperand::Role;
  switch (role) {
    case Role::store:
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

const MemoryOperand* observed_access(const Instruction& in, const ptx::Function& function) {
  for (const MemoryOperand& m : in.memory) {
    if (m.role > MemoryOperand::Role::reduction) continue;
    return check_space(m.space) == check::Space::param && !function.entry ? nullptr : &m;
  }
  return nullptr;
}

}  // namespace inflight::machine
