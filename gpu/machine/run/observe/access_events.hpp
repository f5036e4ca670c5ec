// Handlers of observing ops, which only code decoded for a listener has.
#pragma once
#include <mutex>

#include "gpu/machine/code/op.hpp"

namespace inflight::machine {

// Run before an instruction. They report that it executes (Op::extra: its family), is a fence, is
// activemask, or accesses memory (Op::extra: index of the operand; Op::a and Op::imm: its address).
const Op* report_executed(Warp& w, const Op* op);
const Op* report_fenced(Warp& w, const Op* op);
const Op* report_active(Warp& w, const Op* op);
const Op* report_accessed(Warp& w, const Op* op);
// For a plain weak load from shared memory without a cluster: notes it in the block's log, if that
// is open, or reports it as report_accessed does.
const Op* report_shared_read(Warp& w, const Op* op);
// report_store wraps a weak `st`: reports it, then performs it by Op::inner. Op::detail: bytes of a
// lane's value in its registers. report_strong wraps a strong access: performs it by Op::inner,
// then reports it. Op::detail: bytes of a lane's value in its register, or 0 if the values are not
// known.
const Op* report_store(Warp& w, const Op* op);
const Op* report_strong(Warp& w, const Op* op);
// Run before a weak store of matrices by a whole warp (stmatrix, wmma.store): executes the rest of
// the instruction, then reports it. Lanes that have not changed memory count as silent.
const Op* report_matrix_store(Warp& w, const Op* op);
// Holds strong_order(), for a family that performs and reports a strong access itself.
std::unique_lock<std::mutex> in_strong_order();

}  // namespace inflight::machine
