// Ops that report single instructions and accesses to a launch's listener. Only code decoded for
// one has them; other code pays nothing.
#pragma once
#include "gpu/machine/code/op.hpp"

namespace inflight::machine {

class Lowering;

// Emits the ops that report an instruction, whose other ops follow: that it executes, which
// addresses it accesses, that it is a fence.
void emit_observing(Lowering& lo);
// A strong access, which `op` performs, reports itself once it is done, a weak store to memory that
// threads share before it. `value_bytes`: of a lane's value in a register of the access; 0: unknown.
void observe_access(Lowering& lo, Op& op, unsigned value_bytes);
// A weak access to a matrix whose lines lie a stride apart: its lanes' 64-bit addresses.
void observe_lanes(Lowering& lo, Ref addresses);

}  // namespace inflight::machine
