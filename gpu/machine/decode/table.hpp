// The table of instructions: every family's rows, for the host's instruction set.
#pragma once
#include <string_view>

#include "gpu/machine/lowering/moves.hpp"
#include "gpu/machine/lowering/row.hpp"

namespace inflight::machine {

// Every row of every family. No two are of the same form.
Rows all_rows();

// The row that executes an instruction; null if none does.
const Row* find_row(const ptx::Instruction&);

const MoveHandlers& moves();

// The instruction set of the families of loops over lanes: "avx512", "avx2" or "baseline".
std::string_view lane_instruction_set();

}  // namespace inflight::machine
