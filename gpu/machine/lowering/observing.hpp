// Ops that report single instructions and accesses to a launch's listener. Only code decoded for
// one has them; other code pays nothing.
#pragma once

namespace inflight::machine {

class Lowering;
struct Op;

// Emits the ops that report an instruction, whose other ops follow: that it executes, which
// addresses it accesses, that it is a fence.
void emit_observing(Lowering& lo);
// A strong access, which `op` performs, reports itself once it is done. `value_bytes`: of a lane's
// value in Op::d, and in b and c of an atomic; 0 where there are several or it has more than 8.
void observe_strong(Lowering& lo, Op& op, unsigned value_bytes);

}  // namespace inflight::machine
