// PTX function → Code: control flow, register slots, ops.
#pragma once
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <unordered_map>
#include <vector>

#include "gpu/machine/decode/code.hpp"
#include "gpu/machine/decode/lowering.hpp"
#include "gpu/machine/decode/slots.hpp"
#include "gpu/machine/report/counting.hpp"

namespace inflight::machine {

// Decodes one function. Each instruction is a Lowering for a while.
class Decoder {
 public:
  Decoder(const Program& program, Program::FunctionRef ref, const Function& description,
          CodeForm form);
  // Fills `code`, or `errors` with every reason why it cannot be run.
  void run();
  std::unique_ptr<Code> code;
  bool clustered() const { return form_.clustered; }
  std::vector<std::string> errors;

  const Program& program;
  const ptx::Module& module;
  const ptx::Function& function;

  Ref constant(std::uint64_t bits, unsigned bytes);  // 32 copies in the constant area
  Ref scratch(unsigned bytes);
  Ref slot(std::uint32_t reg) const { return slots_.ref[reg]; }
  std::uint32_t local_offset(std::uint32_t variable) const;  // in the function's local frame
  bool is_entry_parameter(std::uint32_t variable, std::uint32_t& offset) const;
  Op& emit(Handler handler);  // of the instruction that is being decoded
  void refuse(const ptx::Instruction& in, std::string why);
  void guard(Op& op, const Guard& guard) const;
  void read_clock();  // what emit() made last reads a clock

 private:
  void refuse_parameters();
  void layout_locals();
  void block(std::uint32_t id, std::uint32_t next);
  void instruction(std::uint32_t index);
  void lower(const Instruction& what);
  bool bind(const ptx::Instruction& in, Lowering& lo, const Row& row);
  void branch(const Instruction& what);
  void branch_table(const ptx::Instruction& in, Lowering& lo);
  void call(const ptx::Instruction& in, Lowering& lo);
  void jump_to(std::uint32_t block);
  void patch();

  const Function& description_;
  const Flow& flow_;
  Slots slots_;
  CodeForm form_;
  CountingOps counting_;
  bool guarded_ = false;       // emit() wraps ops with the instruction's guard
  std::uint32_t current_ = 0;  // instruction index
  std::uint32_t scratch_begin_ = 0, scratch_used_ = 0, scratch_max_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> local_offsets_;
  std::unordered_map<std::uint64_t, Ref> constants_[5];  // by log2 of the width
  std::vector<std::byte> constant_bytes_;
  struct Fixup {
    std::uint32_t op, block;
  };
  std::vector<Fixup> fixups_;
  std::vector<std::uint32_t> meets_;  // ops whose imm is their target's index
  std::vector<bool> phase_begins_;    // by instruction
  std::uint32_t counted_ = 0;         // the op up to which the block's ops have been paid for
  struct TableFixup {
    std::uint32_t table, entry, block;
  };
  std::vector<TableFixup> table_fixups_;
};

}  // namespace inflight::machine
