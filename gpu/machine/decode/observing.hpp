// Ops that report single instructions and accesses to a launch's listener. Only code decoded for
// one has them; other code pays nothing.
#pragma once

namespace inflight::machine {

class Lowering;

// Emits the ops that report an instruction, whose other ops follow: that it executes, and which
// addresses it accesses.
void emit_observing(Lowering& lo);

}  // namespace inflight::machine
