// The part of a description beyond registers and addresses, read from an instruction's modifiers.
#pragma once
#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

// The fields that only instructions of this kind have; std::monostate for most kinds.
Detail detail_of(const ptx::Module& module, const ptx::Function& function,
                 const ptx::Instruction& in);

// The order and scope that modifiers name, or `otherwise` if they name none.
check::Order order_of(const ptx::ModSet& mods, check::Order otherwise);
check::Scope scope_of(const ptx::ModSet& mods, check::Scope otherwise);

// The number of matrices that ldmatrix or stmatrix moves.
unsigned matrices(const ptx::ModSet& mods);

}  // namespace inflight::machine
