// Decodes a PTX function to Code: control flow and the ops of every instruction.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gpu/machine/decode/counting.hpp"
#include "gpu/machine/instruction/patience.hpp"
#include "gpu/machine/lowering/code_builder.hpp"
#include "gpu/machine/lowering/lowering.hpp"

namespace inflight::machine {

// Decodes one function: walks over its basic blocks and lowers each instruction.
class Decoder {
 public:
  Decoder(const Program& program, Program::FunctionRef ref, const Function& description,
          CodeForm form);
  void run(const Patience& patience);
  // The results: the code, and every reason why the function cannot begin.
  std::unique_ptr<Code> take_code() { return std::move(builder_.code); }
  std::vector<std::string> take_errors() { return std::move(builder_.errors); }

 private:
  void block(std::uint32_t id, std::uint32_t next);
  void instruction(std::uint32_t index);
  void translate(const Instruction& what);
  void lower(const Instruction& what);
  bool bind(const ptx::Instruction& in, Lowering& lo, const Row& row);
  void contraction(const ptx::Instruction& in, Lowering& lo, const Contraction& joined);
  void branch(const Instruction& what);
  void branch_table(const ptx::Instruction& in, Lowering& lo);
  void call(const ptx::Instruction& in, Lowering& lo);
  void begin_endless(const BasicBlock& block);
  void begin_repeat(const BasicBlock& block);
  void jump_to(std::uint32_t block);
  void patch();

  CodeBuilder builder_;
  const Flow& flow_;
  const ptx::Module& module_;
  const ptx::Function& function_;
  CountingOps counting_;
  struct Fixup {
    std::uint32_t op, block;
  };
  std::vector<Fixup> fixups_;
  std::vector<std::uint32_t> meets_;  // ops whose imm is their target's index
  struct TableFixup {
    std::uint32_t table, entry, block;
  };
  std::vector<TableFixup> table_fixups_;
  std::unordered_map<std::uint32_t, std::uint32_t> tables_;  // the code's, by those of the text
};

}  // namespace inflight::machine
