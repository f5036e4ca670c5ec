// One PTX instruction being turned into ops. What Row::lower functions work with.
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

  // Where a source operand's lanes lie, each of size_of(type) bytes: a register of that width, an
  // immediate, a special register or a symbol's address. A wider register is narrowed by an op
  // emitted before; a vector operand {a, b} is packed likewise. no_ref (and a refusal) if it cannot
  // be.
  Ref source(const ptx::Operand& operand, ptx::Type type);
  // Where a result of `type` goes. A wider register gets the value extended (sign-extended if
  // `type` is signed), a vector is unpacked, by an op that finish() emits after. `_` gets scratch
  // lanes.
  Ref destination(const ptx::Operand& operand, ptx::Type type);
  // A predicate operand; `negated_flag` (one of Op::negate_*) is set in `flags` if it is written
  // `!p`.
  Ref predicate(const ptx::Operand& operand, std::uint8_t& flags, std::uint8_t negated_flag);
  Ref predicate_destination(const ptx::Operand& operand);  // `_` gets scratch
  Ref second_destination(const ptx::Operand& operand);  // the q of `p|q`; no_ref if there is none
  // Sets op.a, op.imm and the address_64 flag for `[operand]`. With a variable or constant base,
  // op.a is no_ref and op.imm the whole address (offset in the space the variable lives in).
  bool address(const ptx::Operand& operand, Op& op);
  // The lanes of the address that `[operand]` means, as `type`: where an instruction has several.
  Ref address_lanes(const ptx::Operand& operand, ptx::Type type);
  Ref scratch(ptx::Type type);                     // lanes that live until this instruction is done
  std::uint32_t extra(std::span<const Ref> refs);  // appends to Code::extra; the first one's index
  ptx::Type register_type(const ptx::Operand& operand) const;  // none if it is no register
  bool is_constant(const ptx::Operand& operand) const;
  std::int64_t constant(const ptx::Operand& operand) const;  // of an integer operand
  // Declines: a kernel that reaches the instruction ends there with this sentence.
  bool refuse(std::string why);
  // Was the program compiled for sm_`number` or later? `form`, which it needs, is refused if not.
  bool on_target(int number, std::string_view form);
  void finish();  // emits what destination() put off

  Code& code();                          // of the function
  const CodeForm& form() const;          // that it is decoded for
  const MoveHandlers& moves() const;     // what ops can be composed with
  const Memory& program_memory() const;  // for its windows
  bool may_be_held(std::uint32_t reg) const;  // Function::held
  // Is a variable a parameter of the kernel that this is an instruction of?
  bool is_entry_parameter(std::uint32_t variable) const;

 private:
  // sources.cpp: source(), by the kind of operand
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
