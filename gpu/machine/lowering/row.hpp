// One row of the machine's table of instructions: which handler executes which form of an
// instruction.
//
// A family (integer, float, memory...) is a file in families/ that fills rows. A row matches an
// instruction if opcode and types are equal and its modifiers are exactly the instruction's, less
// those that change nothing here (cache hints and the like: see ignorable()). What no row matches
// is refused by name when a kernel reaches it. Families that are loops over lanes are compiled once
// an instruction set (namespace INFLIGHT_ISA); decode/table chooses the best one for the host at
// start.
#pragma once
#include <array>
#include <vector>

#include "gpu/machine/code/op.hpp"
#include "gpu/ptx/module.hpp"

namespace inflight::machine {

class Lowering;  // one instruction being decoded (lowering.hpp)

struct Row {
  ptx::Opcode opcode;
  std::array<ptx::Type, 3> types;  // as written: types[0], [1], [2]; none: the form has fewer
  ptx::ModSet mods;
  // The operands' types in the order written, destination first: an operand is bound to Op::d, a,
  // b, c in turn; a predicate operand has Type::pred. none ends the list.
  std::array<ptx::Type, 4> operands;
  Handler handler = nullptr;
  // For forms that do not bind operand by operand: called instead. False refuses the form.
  bool (*lower)(Lowering&, const Row&) = nullptr;
};

using Rows = std::vector<Row>;
void add(Rows& rows, const Row& row);  // appends; out of line for the files compiled many times

// Modifiers that change no result here: cache operators, eviction hints, .uni, .full ...
const ptx::ModSet& ignorable();

}  // namespace inflight::machine
