// A function's Code while it grows.
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
// variables, and the reasons why the function cannot run, or not all of it. It knows no order of
// instructions: who walks over them says which one ops belong to.
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

  // Ops are `instruction`'s from here on; `guarded`: they execute for the lanes of its guard.
  void begin(std::uint32_t instruction, bool guarded);
  void set_guarded(bool guarded) { guarded_ = guarded; }
  Op& emit(Handler handler);  // the reference holds until the next emit()
  void guard(Op& op, const Guard& guard) const;
  // The op emitted last reads a clock. Only jumps take from a slice, so the op pays for those
  // before it, which it then sees.
  void read_clock();
  void begin_block();  // of basic blocks: ops before it are paid for

  Ref constant(std::uint64_t bits, unsigned bytes);  // 32 copies in the constant area
  Ref scratch(unsigned bytes);                       // until the next begin()
  Ref slot(std::uint32_t reg) const { return slots_.ref[reg]; }
  std::uint32_t local_offset(std::uint32_t variable) const { return locals_.offset(variable); }
  bool is_entry_parameter(std::uint32_t variable, std::uint32_t& offset) const;

  std::uint32_t instruction() const { return instruction_; }
  std::uint32_t next_op() const { return static_cast<std::uint32_t>(code->ops.size()); }
  // The instruction is not supported, and for this reason unless another came first.
  void refuse(const ptx::Instruction& in, std::string_view why);
  bool refused() const { return refusal_ != none; }  // since begin()
  // Ops emitted since `first` are the refused instruction's, and give way to one that ends the
  // kernel.
  struct Mark {
    std::uint32_t next, paid;
  };
  Mark mark() const { return {next_op(), paid_}; }
  void stop_at(const Mark& first);
  void finish();  // sizes the frame and lays the constants down

 private:
  const Slots slots_;
  LocalLayout locals_;
  bool guarded_ = false;
  std::uint32_t instruction_ = 0;
  std::uint32_t paid_ = 0;  // the op up to which the block's ops have been paid for
  static constexpr std::uint32_t none = ~0u;
  std::uint32_t refusal_ = none;  // of the instruction, in Code::refusals
  const std::uint32_t scratch_begin_;
  std::uint32_t scratch_used_ = 0, scratch_max_ = 0;
  std::unordered_map<std::uint64_t, Ref> constants_[5];  // by log2 of the width
  std::vector<std::byte> constant_bytes_;
};

}  // namespace inflight::machine
