// The forms of instructions that have host code. Each is a row of a table, with one function that
// emits it. All others are left to their handlers.
#pragma once
#include <cstdint>

#include "gpu/machine/code/code.hpp"

namespace inflight::machine::compile {

class Emitter;

// An instruction that one op executes.
struct Site {
  const Code& code;
  const Instruction& in;
  const Op& op;
  std::uint32_t index;  // of the op

  const ptx::Operand& operand(unsigned n) const { return code.function->operands(*in.text)[n]; }
  std::size_t operand_count() const { return code.function->operands(*in.text).size(); }
  ptx::Type type(unsigned n = 0) const { return in.text->type(n); }
  bool plain() const { return in.text->mods.empty(); }
  bool has_only(ptx::ModSet mods) const { return in.text->mods == mods; }
};

struct Form {
  ptx::Opcode opcode;
  bool (*takes)(const Site&);
  void (*emit)(Emitter&, const Site&);
};

// The form of an instruction; null: its handler executes it.
const Form* find_form(const Site& site);

// Whether the op's value lies where the operand says, as an element of so many bytes: in its
// register or among the values that do not change.
bool is_value(const Site& site, Ref ref, const ptx::Operand& operand, unsigned bytes);
// Whether the op writes the operand's register, of so many bytes or a predicate (0).
bool is_result(const Site& site, Ref ref, const ptx::Operand& operand, unsigned bytes);
bool is_predicate(const Site& site, Ref ref, const ptx::Operand& operand);

}  // namespace inflight::machine::compile
