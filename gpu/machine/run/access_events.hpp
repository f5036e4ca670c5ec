// What observing ops run. Only code decoded for a listener has them.
#pragma once
#include "gpu/machine/code/op.hpp"

namespace inflight::machine {

// Before an instruction: it executes (Op::extra: its family); it is a fence; it is activemask; it
// accesses memory (Op::extra: which operand; Op::a and Op::imm: its address).
const Op* report_executed(Warp& w, const Op* op);
const Op* report_fenced(Warp& w, const Op* op);
const Op* report_active(Warp& w, const Op* op);
const Op* report_accessed(Warp& w, const Op* op);
// Around a strong access: performs it by Op::inner, then reports it. Op::detail: bytes of a lane's
// value in its register; 0 if nobody can tell the values.
// Around a weak `st`: reports it, then performs it. Op::detail: bytes of a lane's value in its
// registers.
const Op* report_store(Warp& w, const Op* op);
const Op* report_strong(Warp& w, const Op* op);

}  // namespace inflight::machine
