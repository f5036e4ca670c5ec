// Turns one PTX instruction into ops. Row::lower functions work with it.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/lowering/moves.hpp"
#include "gpu/machine/lowering/row.hpp"

namespace inflight::machine {

class CodeBuilder;
class Memory;

class Lowering {
 public:
  Lowering(CodeBuilder& builder, const Instruction& instruction);

  const Instruction& what;
  const ptx::Instruction& in;  // as written
  const ptx::Function& function;
  const ptx::Module& module;
  std::span<const ptx::Operand> operands;  // in the order written

  // Appends an op that runs `handler`, guarded as the instruction is. The reference holds until the
  // next emit().
  Op& emit(Handler handler);

  // The place of a source operand's lanes, each of size_of(type) bytes: a register of that width,
  // an immediate, a special register or a symbol's address. An op emitted before narrows or extends
  // a register of another width, or packs a vector operand {a, b}. Otherwise refuses and returns
  // no_ref.
  Ref source(const ptx::Operand& operand, ptx::Type type);
  // The place for a result of `type`. Ops that finish() emits extend it for a wider register
  // (sign-extended if `type` is signed), or unpack it into a vector. `_` gets scratch lanes.
  Ref destination(const ptx::Operand& operand, ptx::Type type);
  // A predicate operand. If it is `!p`, sets `negated_flag` (one of Op::negate_*) in `flags`.
  Ref predicate(const ptx::Operand& operand, std::uint8_t& flags, std::uint8_t negated_flag);
  Ref predicate_destination(const ptx::Operand& operand);  // `_` gets scratch
  Ref second_destination(const ptx::Operand& operand);  // the q of `p|q`; no_ref if there is none
  // Sets op.a, op.imm and the address_64 flag for `[operand]`. With a variable or constant base,
  // op.a is no_ref and op.imm the whole address (offset in the space the variable lives in).
  bool address(const ptx::Operand& operand, Op& op);
  // The lanes of the address `[operand]` in `space`, of 32 or 64 bits (addresses.hpp), for
  // instructions with several addresses.
  Ref address_lanes(const ptx::Operand& operand, ptx::Space space);
  Ref scratch(ptx::Type type);                     // lanes that live until this instruction is done
  std::uint32_t extra(std::span<const Ref> refs);  // appends to Code::extra; returns first index
  ptx::Type register_type(const ptx::Operand& operand) const;  // none if it is no register
  bool is_constant(const ptx::Operand& operand) const;
  std::int64_t constant(const ptx::Operand& operand) const;  // of an integer operand
  // Refuses the instruction: a kernel that reaches it ends there with `why`. Returns false.
  bool refuse(std::string_view why);
  // Whether the module's target is sm_`number` or later. If not, refuses `form`, which needs it.
  bool on_target(int number, std::string_view form);
  void finish();  // emits the ops that destination() deferred

  Code& code();  // of the function
  const CodeForm& form() const;
  const MoveHandlers& moves() const;
  const Memory& program_memory() const;       // for its windows
  bool may_be_held(std::uint32_t reg) const;  // Function::held
  // Whether a variable is a parameter of this instruction's kernel.
  bool is_entry_parameter(std::uint32_t variable) const;

 private:
  // In sources.cpp: source() for each kind of operand.
  Ref register_source(const ptx::Operand& operand, ptx::Type type);
  Ref special_source(const ptx::Operand& operand, ptx::Type type);
  Ref variable_source(const ptx::Operand& operand, ptx::Type type);
  Ref function_source(const ptx::Operand& operand, ptx::Type type);
  Ref vector_source(const ptx::Operand& operand, ptx::Type type);
  Ref unreadable(ptx::Type type);

  struct Put {
    Ref from, to;
    ptx::Type type, wide;
  };
  CodeBuilder& builder_;
  std::vector<Put> widen_;
  struct Unpack {
    Ref from;
    ptx::Type type;
    const ptx::Operand* vector;
  };
  std::vector<Unpack> unpack_;
};

}  // namespace inflight::machine
