// How near what an instruction gives is to what a chip gives.
#pragma once
#include "gpu/check/events.hpp"
#include "gpu/ptx/module.hpp"

namespace inflight::machine {

// Of an instruction of `function` on a device of sm_`architecture`, by its opcode, modifiers, types
// and operands: fidelity.def, and special registers. Whether its form can run at all, its decoding
// says.
check::Fidelity fidelity_of(const ptx::Function& function, const ptx::Instruction& instruction,
                            int architecture);

}  // namespace inflight::machine
