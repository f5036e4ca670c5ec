// Which of an instruction's memory accesses are reported to listeners, and in which terms.
#pragma once
#include "gpu/check/events.hpp"
#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

// The memory operand of an instruction of `function` whose access listeners are notified of; null
// if there is none. Parameters of functions that are not kernels are left out: they act as
// registers.
const MemoryOperand* observed_access(const Instruction& in, const ptx::Function& function);
// Whether listeners are notified of accesses through this operand.
bool is_observed(const MemoryOperand& m, const ptx::Function& function);
// Whether the access is weak, or to local, parameter or constant memory. Such an access is reported
// before it happens.
bool is_plain(const MemoryOperand& m);

// These two are called for each access. Of an observed access:
constexpr check::Access::Kind access_kind(MemoryOperand::Role role) {
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

// The generic space counts as global.
constexpr check::Space check_space(ptx::Space space) {
  switch (space) {
    case ptx::Space::shared:
    case ptx::Space::shared_cta:
    case ptx::Space::shared_cluster:
      return check::Space::shared;
    case ptx::Space::local:
      return check::Space::local;
    case ptx::Space::constant:
      return check::Space::constant;
    case ptx::Space::param:
    case ptx::Space::param_entry:
    case ptx::Space::param_func:
      return check::Space::param;
    default:
      return check::Space::global;
  }
}

}  // namespace inflight::machine
