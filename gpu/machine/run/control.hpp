// Handlers of ops that decoding adds: jumps, branches, calls, the guard around an instruction.
#pragma once
#include "gpu/machine/code/op.hpp"

namespace inflight::machine {

const Op* run_guarded(Warp& w, const Op* op);       // wraps: Op::inner for the lanes of Op::guard
const Op* run_jump(Warp& w, const Op* op);          // to Op::target; costs Op::imm
const Op* run_branch(Warp& w, const Op* op);        // likewise, the lanes of Op::guard
const Op* run_phase(Warp& w, const Op* op);         // begins a phase (phases.hpp)
const Op* run_endless(Warp& w, const Op* op);       // the lanes never go on
const Op* run_repeat(Warp& w, const Op* op);        // nor do they after many of these
const Op* run_branch_table(Warp& w, const Op* op);  // by Op::a, Code::branch_tables[Op::extra]
const Op* run_return(Warp& w, const Op* op);
const Op* run_exit(Warp& w, const Op* op);
const Op* run_call(Warp& w, const Op* op);           // Code::calls[Op::extra]
const Op* run_call_indirect(Warp& w, const Op* op);  // likewise, targets in Op::a
const Op* run_unsupported(Warp& w, const Op* op);    // ends the kernel: Code::refusals[Op::extra]

}  // namespace inflight::machine
