// Builds a function's Code.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/code/slots.hpp"
#include "gpu/machine/lowering/local_layout.hpp"
#include "gpu/machine/lowering/moves.hpp"

namespace inflight::machine {

// Holds what instructions share: ops, constants, scratch, the places of registers and of local
// variables, and the reasons why the function, or a part of it, cannot run. The caller walks over
// the instructions and names the one that ops belong to.
class CodeBuilder {
 public:
  CodeBuilder(const Program& program, Program::FunctionRef ref, const Function& description,
              CodeForm form, const MoveHandlers& moves);

  const Program& program;
  const Function& description;
  const ptx::Module& module;
  const ptx::Function& function;
  const CodeForm form;
  const MoveHandlers& moves;
  std::unique_ptr<Code> code;
  std::vector<std::string> errors;  // every reason why the function cannot begin

  // Following ops belong to `instruction`. If `guarded`, they execute for the lanes of its guard.
  void begin(std::uint32_t instruction, bool guarded);
  void set_guarded(bool guarded) { guarded_ = guarded; }
  // The reference holds until the next emit().
  Op& emit(Handler handler, std::uint32_t marks = 0);
  void guard(Op& op, const Guard& guard) const;
  // The last op emitted reads a clock. Otherwise only jumps charge a slice for ops, so it charges
  // for those before it, and the clock includes them.
  void read_clock();
  void begin_block();  // a basic block begins: no later op charges for ops before it

  // Notes that the code reads a value in Base::block. Returns `slot`.
  Ref block_value(Ref slot);
  Ref constant(std::uint64_t bits, unsigned bytes);  // 32 copies in the constant area
  Ref scratch(unsigned bytes);                       // valid until the next begin()
  Ref slot(std::uint32_t reg) const { return slots_.ref[reg]; }
  std::uint32_t local_offset(std::uint32_t variable) const { return locals_.offset(variable); }
  bool is_entry_parameter(std::uint32_t variable, std::uint32_t& offset) const;

  std::uint32_t instruction() const { return instruction_; }
  std::uint32_t next_op() const { return static_cast<std::uint32_t>(code->ops.size()); }
  // Marks the instruction as not supported. Only the first reason is kept.
  void refuse(const ptx::Instruction& in, std::string_view why);
  bool refused() const { return refusal_ != none; }  // since begin()
  struct Mark {
    std::uint32_t next, paid;
  };
  Mark mark() const { return {next_op(), paid_}; }
  // Replaces the ops emitted since `first`, the refused instruction's, by one that ends the kernel.
  void stop_at(const Mark& first);
  void finish();  // sizes the frame and stores the constants

 private:
  const Slots slots_;
  LocalLayout locals_;
  bool guarded_ = false;
  std::uint32_t instruction_ = 0;
  std::uint32_t begin_ = 0;  // its first op
  std::uint32_t paid_ = 0;   // ops before this one have been charged for
  static constexpr std::uint32_t none = ~0u;
  std::uint32_t refusal_ = none;  // the instruction's index in Code::refusals
  const std::uint32_t scratch_begin_;
  std::uint32_t scratch_used_ = 0, scratch_max_ = 0;
  std::unordered_map<std::uint64_t, Ref> constants_[5];  // by log2 of the width
  std::vector<std::byte> constant_bytes_;
};

}  // namespace inflight::machine
