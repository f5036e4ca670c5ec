// Helpers of the lowering functions of irregular instructions.
#pragma once
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/ptx/module.hpp"

namespace inflight::machine {

// A row for every form of `opcode`.
Row any_form(ptx::Opcode opcode, bool (*lower)(Lowering&, const Row&));

// Whether the instruction has only `understood` and ignorable modifiers. Refuses any other by name.
bool only(Lowering& lo, const ptx::ModSet& understood);

}  // namespace inflight::machine
