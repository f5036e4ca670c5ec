// What a description says beyond registers and addresses, from an instruction's modifiers.
#pragma once
#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

// Of what kind is it, and what have instructions of that kind? Nothing for most.
Detail detail_of(const ptx::Module& module, const ptx::Function& function,
                 const ptx::Instruction& in);

// The order and scope that modifiers name; `otherwise` where they name none.
check::Order order_of(const ptx::ModSet& mods, check::Order otherwise);
check::Scope scope_of(const ptx::ModSet& mods, check::Scope otherwise);

// How many matrices ldmatrix and stmatrix move.
unsigned matrices(const ptx::ModSet& mods);

}  // namespace inflight::machine
