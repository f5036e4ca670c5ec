// One row of the machine's table of instructions: which handler executes which form of an
// instruction.
//
// A family (integer, float, memory...) is a file in families/ that adds rows. A row matches an
// instruction if opcode and types are equal and its modifiers are exactly the instruction's without
// those that change no result (cache hints and the like: see ignorable()). A row with `lower` and
// no types or modifiers matches every other form of its opcode. A kernel that reaches an
// instruction without a row ends there. Families of loops over lanes are compiled for each
// instruction set (namespace INFLIGHT_ISA); decode/table chooses the best one for the host.
#pragma once
#include <array>
#include <vector>

#include "gpu/machine/code/op.hpp"
#include "gpu/ptx/module.hpp"

namespace inflight::machine {

class Lowering;  // one instruction being decoded (lowering.hpp)

struct Row {
  ptx::Opcode opcode;
  std::array<ptx::Type, 3> types;  // in the order written; none: the form has fewer
  ptx::ModSet mods;
  // The operands' types in the order written, destination first. The operands are bound to Op::d,
  // a, b, c in turn. A predicate operand has Type::pred. none ends the list.
  std::array<ptx::Type, 4> operands;
  Handler handler = nullptr;
  // Called instead for forms that do not bind operand by operand. False refuses the form.
  bool (*lower)(Lowering&, const Row&) = nullptr;
};

using Rows = std::vector<Row>;
void add(Rows& rows, const Row& row);  // not inline: the families are compiled several times

// Modifiers that change no result here: cache operators, eviction hints, .uni, .full ...
const ptx::ModSet& ignorable();

}  // namespace inflight::machine
