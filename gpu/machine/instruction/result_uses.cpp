// Values derived from the result of a wait, and the branches that depend on them.
#include "gpu/machine/instruction/result_uses.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using Kind = ptx::Operand::Kind;

// For which result of the wait a register is true, or not zero.
enum class Set : std::uint8_t { if_yes, if_no, unclear };
using Known = std::map<std::uint32_t, Set>;  // by register

Set flipped(Set set) {
  return set == Set::unclear ? set : set == Set::if_yes ? Set::if_no : Set::if_yes;
}

Set of(const Known& known, const ptx::Operand& operand) {
  const auto found = operand.kind == Kind::reg ? known.find(operand.index) : known.end();
  if (found == known.end()) return Set::unclear;
  return operand.negated ? flipped(found->second) : found->second;
}

bool is_zero(const ptx::Operand& operand) {
  return operand.kind == Kind::integer && operand.value == 0;
}

// The state of what the instruction writes.
Set result(const ptx::Function& text, const Instruction& in, const Known& known) {
  const auto operands = text.operands(*in.text);
  const auto is_not_zero = [&](std::size_t i) {
    return operands[i].kind == Kind::integer && operands[i].value != 0;
  };
  switch (in.opcode) {
    case Opcode::mov:
      return operands.size() == 2 ? of(known, operands[1]) : Set::unclear;
    case Opcode::not_:
      return operands.size() == 2 && in.text->type() == ptx::Type::pred
                 ? flipped(of(known, operands[1]))
                 : Set::unclear;
    case Opcode::selp:
      if (operands.size() != 4) return Set::unclear;
      if (is_not_zero(1) && is_zero(operands[2])) return of(known, operands[3]);
      if (is_zero(operands[1]) && is_not_zero(2)) return flipped(of(known, operands[3]));
      return Set::unclear;
    case Opcode::setp:
      if (operands.size() != 3 || operands[0].second != ptx::none || !is_zero(operands[2]))
        return Set::unclear;
      if (in.text->mods.has(Mod::ne)) return of(known, operands[1]);
      if (in.text->mods.has(Mod::eq)) return flipped(of(known, operands[1]));
      return Set::unclear;
    default:
      return Set::unclear;
  }
}

bool computes(const Instruction& in) {
  return in.control == Control::next && in.memory.empty() && !in.writes.empty() &&
         std::holds_alternative<std::monostate>(in.detail);
}

bool reads(const Instruction& in, const Known& known) {
  return std::any_of(in.reads.begin(), in.reads.end(),
                     [&](const RegisterUse& use) { return known.contains(use.reg); });
}

bool waits(const Instruction& in) {
  return in.control == Control::wait || in.control == Control::meet || in.as<MbarrierUse>();
}

// Whether control can go from block `from` to block `to` with no wait between.
bool reaches(const Function& f, std::uint32_t from, std::uint32_t to) {
  std::vector<bool> seen(f.flow.blocks.size());
  std::vector<std::uint32_t> open{from};
  seen[from] = true;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (at == to) return true;
    const BasicBlock& block = f.flow.blocks[at];
    if (std::any_of(f.body.begin() + block.first, f.body.begin() + block.last, waits)) continue;
    for (const std::uint32_t next : block.successors)
      if (!seen[next]) seen[next] = true, open.push_back(next);
  }
  return false;
}

// Whether a false result leads elsewhere than a true one before the next wait.
bool decides(const Function& f, std::uint32_t branch, Set guard) {
  const Instruction& in = f.body[branch];
  if (guard == Set::unclear) return true;
  const auto here = std::find_if(
      f.flow.blocks.begin(), f.flow.blocks.end(),
      [&](const BasicBlock& block) { return branch >= block.first && branch < block.last; });
  if (here == f.flow.blocks.end() || here->successors.size() != 2 || !here->falls_through)
    return true;
  const bool jumps_if_yes = (guard == Set::if_yes) != in.guard.negated;
  const std::uint32_t yes = here->successors[jumps_if_yes ? 0 : 1],
                      no = here->successors[jumps_if_yes ? 1 : 0];
  return !reaches(f, no, yes);
}

}  // namespace

bool uses_result(const Function& f, std::uint32_t instruction) {
  std::map<std::uint32_t, unsigned> writers;
  for (const Instruction& each : f.body)
    for (const RegisterUse& use : each.writes) ++writers[use.reg];
  Known known;
  const auto learn = [&](const Instruction& in, Set set) {
    bool fresh = false;
    for (const RegisterUse& use : in.writes)
      fresh |= known.try_emplace(use.reg, writers[use.reg] == 1 ? set : Set::unclear).second;
    return fresh;
  };
  learn(f.body[instruction], Set::if_yes);
  for (bool more = true; more;) {
    more = false;
    for (const Instruction& in : f.body) {
      if (!reads(in, known) || in.control == Control::branch) continue;
      if (!computes(in) || (in.guard && known.contains(in.guard.reg))) return true;
      more |= learn(in, result(*f.text, in, known));
    }
  }
  for (std::uint32_t i = 0; i < f.body.size(); ++i)
    if (const Instruction& in = f.body[i]; reads(in, known)) {
      if (in.control != Control::branch) continue;
      if (!in.guard || decides(f, i, known.at(in.guard.reg))) return true;
    }
  return false;
}

}  // namespace inflight::machine
