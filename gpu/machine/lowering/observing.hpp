// Ops that report single instructions and accesses to a launch's listener. Only code decoded for a
// listener has them.
#pragma once
#include <span>

#include "gpu/machine/code/op.hpp"
#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {

class Lowering;

// Emits the ops that report an instruction before its own ops: that it executes, which addresses it
// accesses, that it is a fence.
void emit_observing(Lowering& lo);
// The places of an access's values. `bytes` is the size of one element in a register; 0: unknown.
struct AccessPlaces {
  unsigned bytes = 0;
  std::span<const Ref> wrote;  // an element each
  Ref read = no_ref, compared = no_ref;
};
// Makes `op` report the access that it performs: a strong one after it, a weak store to global or
// shared memory before it.
void observe_access(Lowering& lo, Op& op, const AccessPlaces& places);
// Emits the report of a weak access to a matrix with strided lines. `addresses`: 64 bits a lane.
void observe_lanes(Lowering& lo, Ref addresses);
// Whether `ops`, the code of an instruction in a form that reports accesses, report an access that
// its family must report by one of these two.
bool reports_access(const Instruction& in, const ptx::Function& function, std::span<const Op> ops);

}  // namespace inflight::machine
