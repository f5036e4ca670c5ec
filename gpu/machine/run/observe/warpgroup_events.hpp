// Events of multiplications, except for the bytes that they read.
#pragma once
#include "gpu/machine/run/warpgroup.hpp"

namespace inflight::machine {

// Does the launch's listener want events of multiplications?
bool observes_multiplies(const Warp& warp);

// The warp executes wgmma.fence, commit_group or wait_group.
void report_multiply_fence(Warp& warp);
void report_multiply_commit(Warp& warp, const Op* op);
void report_multiply_wait(Warp& warp, const Op* op, std::uint32_t allowed, std::uint64_t complete);

// A move gives the register at `place` another value.
void report_moved(Warp& warp, async::RegisterPlace place);

// For an `st` to generic addresses, from Op::a and Op::imm: are they in the lanes' local memory?
// Compilers store accumulators there where arrays are not in registers, and the assembler inserts a
// wait.
bool stores_to_local(const Warp& warp, const Op* op);

// Runs before an instruction that reads or writes registers which multiplications may hold. If it
// may_spill(), Op::a and Op::imm have its address.
const Op* report_touched(Warp& warp, const Op* op);

}  // namespace inflight::machine
