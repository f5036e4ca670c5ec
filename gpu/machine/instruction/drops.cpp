// Follows what depends on a load to the end of its block.
#include "gpu/machine/instruction/drops.hpp"

#include <algorithm>

#include "gpu/machine/instruction/observed_access.hpp"

namespace inflight::machine {
namespace {

using Kind = ptx::Operand::Kind;
using Role = MemoryOperand::Role;
using Registers = std::vector<std::uint32_t>;

constexpr std::uint32_t most_instructions = 128;  // from a load to the end of its block

bool has(const Registers& registers, std::uint32_t reg) {
  return std::find(registers.begin(), registers.end(), reg) != registers.end();
}
void add(Registers& registers, std::uint32_t reg) {
  if (!has(registers, reg)) registers.push_back(reg);
}
bool reads(const Instruction& in, const Registers& registers) {
  return std::any_of(in.reads.begin(), in.reads.end(), [&](const RegisterUse& use) {
    return use.operand != RegisterUse::guard_operand && has(registers, use.reg);
  });
}

class Drops {
 public:
  explicit Drops(Function& function) : f_(function) {}

  void find() {
    for (const std::uint32_t b : f_.flow.order)
      for (std::uint32_t i = f_.flow.blocks[b].first; i < f_.flow.blocks[b].last; ++i)
        if (const Instruction& in = f_.body[i]; is_weak_load(in) && may_drop(b, i)) {
          f_.memory[static_cast<std::size_t>(in.memory.data() - f_.memory.data())].may_drop = true;
          f_.drops.push_back(drop(b, i));
        }
    std::sort(f_.drops.begin(), f_.drops.end(),
              [](const Drop& a, const Drop& b) { return a.load < b.load; });
  }

 private:
  static bool is_weak_load(const Instruction& in) {
    if (in.opcode != ptx::Opcode::ld || in.memory.size() != 1) return false;
    const MemoryOperand& m = in.memory[0];
    const bool shared = m.space == ptx::Space::generic || m.space == ptx::Space::global ||
                        check_space(m.space) == check::Space::shared;
    return shared && m.role == Role::load && m.order == check::Order::weak;
  }

  // Whether some value may decide instead of the loaded one, which is not used in any other way.
  bool may_drop(std::uint32_t b, std::uint32_t load) {
    const BasicBlock& block = f_.flow.blocks[b];
    if (block.last - load > most_instructions) return false;
    bool decided = false;
    Registers always, perhaps;  // depend on it in all lanes, or in some
    for (const RegisterUse& use : f_.body[load].writes) always.push_back(use.reg);
    for (std::uint32_t i = load + 1; i < block.last; ++i) {
      const Instruction& in = f_.body[i];
      const bool depends = reads(in, always), may = depends || reads(in, perhaps);
      const bool guard = in.guard && has(always, in.guard.reg);
      if (guard) return false;
      if (!may && !(in.guard && has(perhaps, in.guard.reg))) {
        if (!in.guard)
          for (const RegisterUse& use : in.writes) std::erase(always, use.reg);
        continue;
      }
      const bool decides =
          in.guard || (may_decide(*f_.text, in) &&
                       std::any_of(in.reads.begin(), in.reads.end(),
                                   [&](const RegisterUse& use) { return !has(always, use.reg); }));
      if (decides) decided = true;
      if (depends && !decides && !computes_alone(in)) return false;
      for (const RegisterUse& use : in.writes) {
        std::erase(always, use.reg);
        add(depends && !decides ? always : perhaps, use.reg);
      }
    }
    if (!decided) return false;
    return std::none_of(always.begin(), always.end(), [&](std::uint32_t reg) {
      return !block.successors.empty() &&
             std::all_of(block.successors.begin(), block.successors.end(),
                         [&](std::uint32_t next) { return is_live(reg, next); });
    });
  }

  Drop drop(std::uint32_t b, std::uint32_t load) {
    const BasicBlock& block = f_.flow.blocks[b];
    Drop d{load, block.last, {}};
    Registers dependents;
    for (const RegisterUse& use : f_.body[load].writes) add(dependents, use.reg);
    for (std::uint32_t i = load + 1; i < block.last; ++i)
      if (const Instruction& in = f_.body[i];
          reads(in, dependents) || (in.guard && has(dependents, in.guard.reg)))
        for (const RegisterUse& use : in.writes) add(dependents, use.reg);
    const bool branches = block.successors.size() == 2 && block.falls_through &&
                          f_.body[block.last - 1].control == Control::branch;
    for (std::size_t s = 0; s < block.successors.size(); ++s)
      for (const std::uint32_t reg : dependents)
        if (is_live(reg, block.successors[s]))
          for (std::size_t to = 0; to < 2; ++to)
            if (!branches || to == s) add(d.live[to], reg);
    return d;
  }

  // Whether the register's value is used from the start of `block` on.
  bool is_live(std::uint32_t reg, std::uint32_t block) {
    if (used_.empty()) find_users();
    if (used_[reg] != several) return false;
    std::vector<bool> seen(f_.flow.blocks.size());
    Registers open{block};
    seen[block] = true;
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      bool written = false;
      for (std::uint32_t i = f_.flow.blocks[at].first; !written && i < f_.flow.blocks[at].last;
           ++i) {
        const Instruction& in = f_.body[i];
        if (std::any_of(in.reads.begin(), in.reads.end(),
                        [&](auto& use) { return use.reg == reg; }))
          return true;
        if (!in.guard)
          for (const RegisterUse& use : in.writes) written |= use.reg == reg;
      }
      if (written) continue;
      for (const std::uint32_t next : f_.flow.blocks[at].successors)
        if (!seen[next]) seen[next] = true, open.push_back(next);
    }
    return false;
  }

  // By register: the block with all its reads, if a write comes before them, else `several`.
  void find_users() {
    used_.assign(f_.text->registers.size(), nowhere);
    std::vector<std::uint32_t> written(used_.size(), nowhere);
    for (std::uint32_t b = 0; b < f_.flow.blocks.size(); ++b)
      for (std::uint32_t i = f_.flow.blocks[b].first; i < f_.flow.blocks[b].last; ++i) {
        const Instruction& in = f_.body[i];
        for (const RegisterUse& use : in.reads) {
          const bool here =
              written[use.reg] == b && (used_[use.reg] == nowhere || used_[use.reg] == b);
          used_[use.reg] = here ? b : several;
        }
        if (!in.guard)
          for (const RegisterUse& use : in.writes) written[use.reg] = b;
      }
    for (const std::uint32_t reg : f_.text->returns)
      if (reg < used_.size()) used_[reg] = several;
  }

  static constexpr std::uint32_t nowhere = ~0u, several = nowhere - 1;
  Function& f_;
  Registers used_;
};

}  // namespace

bool computes_alone(const Instruction& in) {
  if (!in.memory.empty() || in.follows_multiplies || in.awaits_multiplies || in.writes_carry ||
      in.reads_carry || in.control != Control::next)
    return false;
  switch (in.family) {
    case Family::integer:
    case Family::bits:
    case Family::floating:
    case Family::compare:
    case Family::convert:
    case Family::move:
      return true;
    default:
      return false;
  }
}

bool may_decide(const ptx::Function& text, const Instruction& in) {
  if (in.opcode == ptx::Opcode::selp) {
    const auto operands = text.operands(*in.text);
    return operands.size() == 4 && operands[3].kind == Kind::reg;
  }
  if (in.opcode != ptx::Opcode::and_ && in.opcode != ptx::Opcode::or_) return false;
  return in.text->type() == ptx::Type::pred && text.operands(*in.text).size() == 3;
}

void find_drops(Function& function) { Drops(function).find(); }

const Drop* drop_of(const Function& function, std::uint32_t load) {
  const auto found =
      std::lower_bound(function.drops.begin(), function.drops.end(), load,
                       [](const Drop& each, std::uint32_t number) { return each.load < number; });
  return found != function.drops.end() && found->load == load ? &*found : nullptr;
}

}  // namespace inflight::machine
