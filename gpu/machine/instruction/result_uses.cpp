// Values derived from the result of a wait, and the branches that depend on them.
#include "gpu/machine/instruction/result_uses.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "gpu/machine/instruction/drops.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using Kind = ptx::Operand::Kind;

// What a register is, as a truth value, for one result of the wait.
enum class Truth : std::uint8_t { yes, no, either };

Truth operator!(Truth of) {
  return of == Truth::either ? of : of == Truth::yes ? Truth::no : Truth::yes;
}
Truth operator&&(Truth a, Truth b) {
  if (a == Truth::no || b == Truth::no) return Truth::no;
  return a == Truth::yes && b == Truth::yes ? Truth::yes : Truth::either;
}
Truth operator||(Truth a, Truth b) { return !(!a && !b); }

// What a register is if the wait returns true, and if it returns false.
struct Set {
  Truth if_yes = Truth::either, if_no = Truth::either;
  bool exact = true;  // nothing else writes the register
  bool reveals_result() const { return if_yes == !if_no && if_no != Truth::either; }
};
constexpr Set unclear;
using Known = std::map<std::uint32_t, Set>;  // by register

Set flipped(Set set) { return {!set.if_yes, !set.if_no, set.exact}; }

Set of(const Known& known, const ptx::Operand& operand) {
  const auto found = operand.kind == Kind::reg ? known.find(operand.index) : known.end();
  if (found == known.end()) return unclear;
  return operand.negated ? flipped(found->second) : found->second;
}

bool is_zero(const ptx::Operand& operand) {
  return operand.kind == Kind::integer && operand.value == 0;
}

// Whether one lane's result decides a vote: any, if it is true; all, if it is false.
std::optional<Set> voted(const Instruction& in, Set lane) {
  if (in.opcode != Opcode::vote) return std::nullopt;
  if (in.text->mods.has(Mod::any))
    return Set{lane.if_yes || Truth::either, lane.if_no || Truth::either, lane.exact};
  if (in.text->mods.has(Mod::all))
    return Set{lane.if_yes && Truth::either, lane.if_no && Truth::either, lane.exact};
  return std::nullopt;
}

// The state of what the instruction writes.
Set result(const ptx::Function& text, const Instruction& in, const Known& known) {
  const auto operands = text.operands(*in.text);
  const auto is_not_zero = [&](std::size_t i) {
    return operands[i].kind == Kind::integer && operands[i].value != 0;
  };
  const bool three = operands.size() == 3;
  switch (in.opcode) {
    case Opcode::mov:
      return operands.size() == 2 ? of(known, operands[1]) : unclear;
    case Opcode::not_:
      return operands.size() == 2 && in.text->type() == ptx::Type::pred
                 ? flipped(of(known, operands[1]))
                 : unclear;
    case Opcode::and_:
    case Opcode::or_: {
      if (!three) return unclear;
      const Set a = of(known, operands[1]), b = of(known, operands[2]);
      const bool exact = a.exact && b.exact;
      if (in.opcode == Opcode::and_) return {a.if_yes && b.if_yes, a.if_no && b.if_no, exact};
      return {a.if_yes || b.if_yes, a.if_no || b.if_no, exact};
    }
    case Opcode::selp:
      if (operands.size() != 4) return unclear;
      if (is_not_zero(1) && is_zero(operands[2])) return of(known, operands[3]);
      if (is_zero(operands[1]) && is_not_zero(2)) return flipped(of(known, operands[3]));
      return unclear;
    case Opcode::setp:
      if (!three || operands[0].second != ptx::none || !is_zero(operands[2])) return unclear;
      if (in.text->mods.has(Mod::ne)) return of(known, operands[1]);
      if (in.text->mods.has(Mod::eq)) return flipped(of(known, operands[1]));
      return unclear;
    case Opcode::vote:
      return voted(in, of(known, operands[1])).value_or(unclear);
    default:
      return unclear;
  }
}

bool is_constant(const ptx::Function& text, const Instruction& in) {
  const auto operands = text.operands(*in.text);
  return in.opcode == Opcode::mov && operands.size() == 2 && operands[1].kind == Kind::integer;
}

bool computes(const Instruction& in) {
  return voted(in, unclear) || (computes_alone(in) && !in.writes.empty());
}

bool reads(const Instruction& in, const Known& known) {
  return std::any_of(in.reads.begin(), in.reads.end(),
                     [&](const RegisterUse& use) { return known.contains(use.reg); });
}

bool waits(const Instruction& in) {
  return in.control == Control::wait || in.control == Control::meet || in.as<MbarrierUse>();
}

// The use of one wait's result, and of the results of waits on the way from it.
class Uses {
 public:
  explicit Uses(const Function& function) : f_(function) {}
  ResultUse of(std::uint32_t instruction);

 private:
  Known derived(std::uint32_t instruction, bool& escapes);
  ResultUse at_branch(std::uint32_t branch, Set guard);
  enum class Way : std::uint8_t { none, past_other_waits, free };
  Way way(std::uint32_t from, std::uint32_t to);
  bool stops(const BasicBlock& block, bool& other_waits);

  // Takes steps of the search. False: it has taken too many, and the result counts as decisive.
  bool spend(std::uint64_t steps) {
    left_ -= std::min(left_, steps);
    return left_ != 0;
  }

  const Function& f_;
  std::vector<std::uint32_t> open_;  // the waits whose results are being looked at
  std::uint64_t left_ = 1 << 21;     // steps
};

// Does a wait in the block stop a thread whose test failed? One whose result the code may ignore
// does not.
bool Uses::stops(const BasicBlock& block, bool& other_waits) {
  for (std::uint32_t i = block.first; i < block.last; ++i) {
    const Instruction& in = f_.body[i];
    if (!waits(in)) continue;
    const MbarrierUse* const use = in.as<MbarrierUse>();
    const bool tests = use && (use->op == check::MbarrierOp::Op::test_wait ||
                               use->op == check::MbarrierOp::Op::try_wait);
    if (!tests || std::ranges::find(open_, i) != open_.end() || of(i) == ResultUse::decisive)
      return true;
    other_waits = true;
  }
  return false;
}

// How control can go from block `from` to block `to` without a wait that stops it.
Uses::Way Uses::way(std::uint32_t from, std::uint32_t to) {
  std::vector<bool> seen(f_.flow.blocks.size());
  std::vector<std::uint32_t> open{from};
  seen[from] = true;
  bool other_waits = false;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (at == to) return other_waits ? Way::past_other_waits : Way::free;
    const BasicBlock& block = f_.flow.blocks[at];
    if (!spend(block.last - block.first + 1)) return Way::none;
    if (stops(block, other_waits)) continue;
    for (const std::uint32_t next : block.successors)
      if (!seen[next]) seen[next] = true, open.push_back(next);
  }
  return Way::none;
}

// Whether a false result leads elsewhere than a true one before the next wait.
ResultUse Uses::at_branch(std::uint32_t branch, Set guard) {
  const Instruction& in = f_.body[branch];
  if (in.guard.negated) guard = flipped(guard);
  if (guard.if_no == Truth::either) return ResultUse::doubtful;
  const auto here = std::find_if(
      f_.flow.blocks.begin(), f_.flow.blocks.end(),
      [&](const BasicBlock& block) { return branch >= block.first && branch < block.last; });
  if (here == f_.flow.blocks.end() || here->successors.size() != 2 || !here->falls_through)
    return ResultUse::decisive;
  const bool jumps_if_no = guard.if_no == Truth::yes;
  const std::uint32_t no = here->successors[jumps_if_no ? 0 : 1],
                      yes = here->successors[jumps_if_no ? 1 : 0];
  const Way found = way(no, yes);
  if (found == Way::none) return ResultUse::decisive;
  return found == Way::free && guard.reveals_result() && guard.exact ? ResultUse::none
                                                                     : ResultUse::doubtful;
}

// The registers whose values depend on the result. `escapes`: it goes where it is not followed.
Known Uses::derived(std::uint32_t instruction, bool& escapes) {
  std::map<std::uint32_t, unsigned> writers, constants;
  for (const Instruction& each : f_.body)
    for (const RegisterUse& use : each.writes) {
      ++writers[use.reg];
      if (is_constant(*f_.text, each)) ++constants[use.reg];
    }
  Known known;
  const auto learn = [&](const Instruction& in, Set set) {
    bool fresh = false;
    for (const RegisterUse& use : in.writes) {
      const unsigned others = writers[use.reg] - 1;
      if (others != constants[use.reg]) set = unclear;
      set.exact &= others == 0;
      fresh |= known.try_emplace(use.reg, set).second;
    }
    return fresh;
  };
  learn(f_.body[instruction], {Truth::yes, Truth::no});
  for (bool more = true; more;) {
    more = false;
    if (!spend(f_.body.size())) {
      escapes = true;
      return known;
    }
    for (const Instruction& in : f_.body) {
      if (!reads(in, known) || in.control == Control::branch) continue;
      if (!computes(in) || (in.guard && known.contains(in.guard.reg))) {
        escapes = true;
        return known;
      }
      more |= learn(in, result(*f_.text, in, known));
    }
  }
  return known;
}

ResultUse Uses::of(std::uint32_t instruction) {
  bool escapes = false;
  if (!spend(2 * f_.body.size())) return ResultUse::decisive;
  const Known known = derived(instruction, escapes);
  if (escapes) return ResultUse::decisive;
  open_.push_back(instruction);
  ResultUse use = ResultUse::none;
  for (std::uint32_t i = 0; i < f_.body.size() && use != ResultUse::decisive; ++i)
    if (const Instruction& in = f_.body[i]; in.control == Control::branch && reads(in, known))
      use = std::max(use, in.guard ? at_branch(i, known.at(in.guard.reg)) : ResultUse::decisive);
  open_.pop_back();
  return use;
}

}  // namespace

ResultUse use_of_result(const Function& f, std::uint32_t instruction) {
  return Uses(f).of(instruction);
}

}  // namespace inflight::machine
