// Follows loaded registers in the order of the text.
#include "gpu/machine/instruction/load_uses.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {
namespace {

class LoadUses {
 public:
  explicit LoadUses(Function& function)
      : function_(function), loaded_(function.text->registers.size(), Instruction::no_load) {}

  void find() {
    for (const BasicBlock& block : function_.flow.blocks) {
      told_.clear();
      for (std::uint32_t i = block.first; i < block.last; ++i) instruction(i);
    }
  }

 private:
  void instruction(std::uint32_t index) {
    Instruction& in = function_.body[index];
    if (in.opcode == ptx::Opcode::tcgen05_ld) return written(in, index);
    std::uint32_t load = Instruction::no_load;
    for (const RegisterUse& use : in.reads)
      if (const std::uint32_t from = loaded_[use.reg]; from != Instruction::no_load)
        load = load == Instruction::no_load ? from : std::max(load, from);
    if (load == Instruction::no_load) return;
    if (in.opcode == ptx::Opcode::mov) return written(in, load);
    if (told_.emplace(load, index).second) in.completes_load = load;
  }
  void written(const Instruction& in, std::uint32_t load) {
    for (const RegisterUse& use : in.writes) loaded_[use.reg] = load;
  }

  Function& function_;
  std::vector<std::uint32_t> loaded_;                      // by register: the ld
  std::unordered_map<std::uint32_t, std::uint32_t> told_;  // in this block, by ld
};

}  // namespace

void find_load_uses(Function& function) {
  const auto loads = [](const Instruction& in) { return in.opcode == ptx::Opcode::tcgen05_ld; };
  if (std::ranges::any_of(function.body, loads)) LoadUses(function).find();
}

}  // namespace inflight::machine
