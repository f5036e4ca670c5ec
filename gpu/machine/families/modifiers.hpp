// What the lowering functions of irregular instructions share.
#pragma once
#include "gpu/machine/lowering/lowering.hpp"

namespace inflight::machine {

// The row for every form of `opcode`.
Row any_form(ptx::Opcode opcode, bool (*lower)(Lowering&, const Row&));

// Does the instruction have no modifier but these and the ignorable ones? If it has, it is refused
// by name.
bool only(Lowering& lo, const ptx::ModSet& understood);

}  // namespace inflight::machine
