// How close an instruction's results are to a chip's.
#pragma once
#include "gpu/check/events.hpp"
#include "gpu/ptx/module.hpp"

namespace inflight::machine {

// The fidelity of an instruction of `function` on a device of sm_`architecture`. It depends on the
// opcode, modifiers, types and operands: see fidelity.def and the special registers in
// fidelity.cpp. The decoder reports whether the form can run at all.
check::Fidelity fidelity_of(const ptx::Function& function, const ptx::Instruction& instruction,
                            int architecture);

}  // namespace inflight::machine
