// Looks for the uses in the order of the text.
#include "gpu/machine/instruction/load_uses.hpp"

#include <algorithm>
#include <set>

#include "gpu/machine/instruction/instruction.hpp"

namespace inflight::machine {
namespace {

using Registers = std::set<std::uint32_t>;

bool reads_any(const Instruction& in, const Registers& loaded) {
  return std::ranges::any_of(in.reads,
                             [&](const RegisterUse& use) { return loaded.contains(use.reg); });
}

// The first instruction after `load` that reads what it has loaded, or a copy of that.
Instruction* first_use(Function& function, std::size_t load) {
  Registers loaded;
  for (const RegisterUse& use : function.body[load].writes) loaded.insert(use.reg);
  for (std::size_t i = load + 1; i < function.body.size() && !loaded.empty(); ++i) {
    Instruction& in = function.body[i];
    const bool reads = reads_any(in, loaded);
    const bool moves = in.opcode == ptx::Opcode::mov;
    if (reads && !moves) return &in;
    for (const RegisterUse& use : in.writes)
      if (reads)
        loaded.insert(use.reg);
      else if (!in.guard)
        loaded.erase(use.reg);
  }
  return nullptr;
}

}  // namespace

void find_load_uses(Function& function) {
  for (std::size_t i = 0; i < function.body.size(); ++i)
    if (function.body[i].opcode == ptx::Opcode::tcgen05_ld)
      if (Instruction* const use = first_use(function, i))
        use->completes_load = static_cast<std::uint32_t>(i);
}

}  // namespace inflight::machine
