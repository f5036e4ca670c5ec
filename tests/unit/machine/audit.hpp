// Checks every instruction that a test executes against its description. It writes only the
// registers listed as written, and its result depends only on those listed as read. It accesses
// shared memory only if it has a memory operand. Its lanes go on to the next instruction together
// if its control is `next`, and do not park.
#pragma once
#include "gpu/machine/link/program.hpp"
#include "gpu/ptx/opcodes.hpp"

namespace inflight::machine {

// Audits all later runs of this program's functions. Call it once per program, before its first
// launch.
void audit(const Program& program);
// Whether lanes have parked at an audited instruction with this opcode in this process.
bool has_parked(ptx::Opcode opcode);

}  // namespace inflight::machine
