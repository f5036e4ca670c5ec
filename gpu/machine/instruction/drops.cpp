// Follows what depends on a load, to the end of its block and over the blocks after it.
#include "gpu/machine/instruction/drops.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "gpu/machine/instruction/effort.hpp"
#include "gpu/machine/instruction/observed_access.hpp"
#include "gpu/machine/instruction/register_uses.hpp"

namespace inflight::machine {
namespace {

using Kind = ptx::Operand::Kind;
using Role = MemoryOperand::Role;
using Registers = std::vector<std::uint32_t>;

constexpr std::uint32_t most_instructions = 128;  // from a load to the end of its block
constexpr std::size_t most_registers = 64;        // that depend on a load in later blocks
constexpr std::size_t most_blocks = 64;           // in which these are live

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
  explicit Drops(Function& function) : f_(function), effort_(function) {}

  void find() {
    for (const std::uint32_t b : f_.flow.order)
      for (std::uint32_t i = f_.flow.blocks[b].first; i < f_.flow.blocks[b].last; ++i) {
        const Instruction& in = f_.body[i];
        if (!is_weak_load(in)) continue;
        if (std::optional<Drop> found = drop(b, i)) {
          f_.memory[static_cast<std::size_t>(in.memory.data() - f_.memory.data())].may_drop = true;
          f_.drops.push_back(std::move(*found));
        }
      }
    std::sort(f_.drops.begin(), f_.drops.end(),
              [](const Drop& a, const Drop& b) { return a.load < b.load; });
    if (std::ranges::none_of(f_.drops, [](const Drop& d) { return !d.beyond.empty(); })) return;
    for (std::uint32_t reg = 0; reg < f_.text->registers.size(); ++reg)
      f_.rewritten.push_back(is_rewritten(reg));
  }

 private:
  // From a load to the end of its block.
  struct Here {
    bool used = false;     // whatever else holds
    bool decided = false;  // some value may decide instead of it
    Registers always;      // depend on it in all lanes
    Registers dependents;  // in some
  };
  // What its value reaches in later blocks.
  struct Beyond {
    bool used = false, decided = false;
    std::vector<std::uint32_t> blocks;
  };

  static bool is_weak_load(const Instruction& in) {
    if (in.opcode != ptx::Opcode::ld || in.memory.size() != 1) return false;
    const MemoryOperand& m = in.memory[0];
    const bool shared = m.space == ptx::Space::generic || m.space == ptx::Space::global ||
                        check_space(m.space) == check::Space::shared;
    return shared && m.role == Role::load && m.order == check::Order::weak;
  }

  RegisterUses& uses() {
    if (!uses_) uses_.emplace(f_, most_blocks * 4);
    return *uses_;
  }
  bool is_rewritten(std::uint32_t reg) { return uses().writers(reg).size() > 1; }

  // Whether another operand than those that depend on the load in all lanes may decide.
  bool decides(const Instruction& in, const Registers& always) {
    return (may_decide(*f_.text, in) || makes_nonzero(in)) &&
           std::any_of(in.reads.begin(), in.reads.end(),
                       [&](const RegisterUse& use) { return !has(always, use.reg); });
  }
  // An `or` of integers that are then compared with 0: compilers make it of `a == 0 && b == 0`.
  bool makes_nonzero(const Instruction& in) {
    if (in.opcode != ptx::Opcode::or_ || in.text->type() == ptx::Type::pred ||
        in.writes.size() != 1)
      return false;
    const auto readers = uses().readers(in.writes[0].reg);
    return !readers.empty() && effort_.spend(readers.size()) &&
           std::ranges::all_of(
               readers, [&](std::uint32_t i) { return compares_with_zero(*f_.text, f_.body[i]); });
  }

  Here here(std::uint32_t b, std::uint32_t load) {
    Here h;
    Registers perhaps;
    for (const RegisterUse& use : f_.body[load].writes) {
      add(h.always, use.reg);
      add(h.dependents, use.reg);
    }
    for (std::uint32_t i = load + 1; i < f_.flow.blocks[b].last; ++i) {
      const Instruction& in = f_.body[i];
      const bool depends = reads(in, h.always), may = depends || reads(in, perhaps);
      h.used = in.guard && has(h.always, in.guard.reg);
      if (h.used) return h;
      if (reads(in, h.dependents) || (in.guard && has(h.dependents, in.guard.reg)))
        for (const RegisterUse& use : in.writes) add(h.dependents, use.reg);
      if (!may && !(in.guard && has(perhaps, in.guard.reg))) {
        if (!in.guard)
          for (const RegisterUse& use : in.writes) std::erase(h.always, use.reg);
        continue;
      }
      const bool decided = in.guard || decides(in, h.always);
      h.decided |= decided;
      h.used = depends && !decided && !computes_alone(in);
      if (h.used) return h;
      for (const RegisterUse& use : in.writes) {
        std::erase(h.always, use.reg);
        add(depends && !decided ? h.always : perhaps, use.reg);
      }
    }
    return h;
  }

  std::optional<Drop> drop(std::uint32_t b, std::uint32_t load) {
    const BasicBlock& block = f_.flow.blocks[b];
    if (block.last - load > most_instructions) return std::nullopt;
    const Here h = here(b, load);
    if (h.used) return std::nullopt;
    Drop d{load, block.last, {}, {}};
    if (std::optional<Beyond> after = beyond(b, load, h)) {
      if (after->used || !(h.decided || after->decided)) return std::nullopt;
      d.beyond = std::move(after->blocks);
      return d;
    }
    const bool live = std::any_of(h.always.begin(), h.always.end(), [&](std::uint32_t reg) {
      return !block.successors.empty() &&
             std::all_of(block.successors.begin(), block.successors.end(),
                         [&](std::uint32_t next) { return is_live(reg, next); });
    });
    if (!h.decided || live) return std::nullopt;
    const bool branches = block.successors.size() == 2 && block.falls_through &&
                          f_.body[block.last - 1].control == Control::branch;
    for (std::size_t s = 0; s < block.successors.size(); ++s)
      for (const std::uint32_t reg : h.dependents)
        if (is_live(reg, block.successors[s]))
          for (std::size_t to = 0; to < 2; ++to)
            if (!branches || to == s) add(d.live[to], reg);
    return d;
  }

  // Follows the value over the flow graph, without regard to the order of blocks. None: that is too
  // much, or nothing there decides.
  std::optional<Beyond> beyond(std::uint32_t b, std::uint32_t load, const Here& h) {
    const BasicBlock& block = f_.flow.blocks[b];
    const auto is_seen = [&](std::uint32_t i) { return i > load && i < block.last; };
    Registers all = h.dependents, always = h.always;
    const auto own = f_.body[load].writes;
    for (const std::uint32_t reg : always)
      if (is_rewritten(reg) &&
          std::ranges::none_of(own, [&](const RegisterUse& use) { return use.reg == reg; }))
        return std::nullopt;
    Beyond to;
    Registers used_at;
    for (std::size_t k = 0; k < always.size(); ++k) {
      if (always.size() > most_registers || !effort_.spend(uses().readers(always[k]).size()))
        return std::nullopt;
      for (const std::uint32_t i : uses().readers(always[k])) {
        const Instruction& in = f_.body[i];
        if (is_seen(i)) continue;
        if (in.guard && has(always, in.guard.reg)) {
          used_at.push_back(i);
        } else if (in.guard) {
          continue;
        } else if (decides(in, always)) {
          to.decided = true;
        } else if (!computes_alone(in) || std::ranges::any_of(in.writes, [&](auto& use) {
                     return is_rewritten(use.reg);
                   })) {
          used_at.push_back(i);
        } else {
          for (const RegisterUse& use : in.writes) add(always, use.reg);
        }
      }
    }
    if (!h.decided && !to.decided) return std::nullopt;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (all.size() > most_registers || !effort_.spend(uses().readers(all[k]).size()))
        return std::nullopt;
      for (const std::uint32_t i : uses().readers(all[k]))
        if (!is_seen(i) && computes_alone(f_.body[i]))
          for (const RegisterUse& use : f_.body[i].writes) add(all, use.reg);
    }
    if (!find_blocks(b, all, to.blocks)) return std::nullopt;
    to.used = is_used(b, to.blocks, used_at);
    return to;
  }

  // The blocks after `b` in which one of the registers is live. False: too many.
  bool find_blocks(std::uint32_t b, const Registers& registers,
                   std::vector<std::uint32_t>& blocks) {
    std::set<std::uint32_t> live;
    for (const std::uint32_t reg : registers) {
      const auto& found = uses().live_blocks(reg);
      if (!found || !effort_.spend(found->size())) return false;
      live.insert(found->begin(), found->end());
    }
    std::uint32_t instructions = 0;
    Registers open{b};
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      for (const std::uint32_t next : f_.flow.blocks[at].successors) {
        if (!live.contains(next) || has(blocks, next)) continue;
        blocks.push_back(next), open.push_back(next);
        instructions += f_.flow.blocks[next].last - f_.flow.blocks[next].first;
        if (blocks.size() > most_blocks || instructions > most_instructions * 8) return false;
      }
    }
    std::ranges::sort(blocks, {}, [&](std::uint32_t each) { return uses().position(each); });
    return true;
  }

  // Whether every way from the end of `b` leads through one of the instructions.
  bool is_used(std::uint32_t b, const std::vector<std::uint32_t>& blocks,
               const Registers& instructions) {
    std::set<std::uint32_t> through;
    for (const std::uint32_t i : instructions) through.insert(uses().block_of(i));
    const auto leads = [&](std::uint32_t block) {
      const auto& next = f_.flow.blocks[block].successors;
      return !next.empty() &&
             std::ranges::all_of(next, [&](std::uint32_t each) { return through.contains(each); });
    };
    for (bool more = true; more;) {
      more = false;
      for (auto at = blocks.rbegin(); at != blocks.rend(); ++at)
        if (!through.contains(*at) && leads(*at)) through.insert(*at), more = true;
    }
    return leads(b);
  }

  // Whether the register's value is used from the start of `block` on.
  bool is_live(std::uint32_t reg, std::uint32_t block) {
    if (used_.empty()) find_users();
    if (used_[reg] != several) return false;
    if (!effort_.spend(f_.flow.blocks.size() / 64)) return true;
    std::vector<bool> seen(f_.flow.blocks.size());
    Registers open{block};
    seen[block] = true;
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      bool written = false;
      if (!effort_.spend(f_.flow.blocks[at].last - f_.flow.blocks[at].first + 1)) return true;
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
  Effort effort_;
  std::optional<RegisterUses> uses_;
  Registers used_;
};

}  // namespace

bool computes_alone(const Instruction& in) {
  if (!in.memory.empty() || in.follows_multiplies || in.awaits_multiplies || in.writes_carry ||
      in.reads_carry || in.control != Control::next)
    return false;
  return computes(in.effect);
}

bool may_decide(const ptx::Function& text, const Instruction& in) {
  if (in.opcode == ptx::Opcode::selp) {
    const auto operands = text.operands(*in.text);
    return operands.size() == 4 && operands[3].kind == Kind::reg;
  }
  if (in.opcode != ptx::Opcode::and_ && in.opcode != ptx::Opcode::or_) return false;
  return in.text->type() == ptx::Type::pred && text.operands(*in.text).size() == 3;
}

bool compares_with_zero(const ptx::Function& text, const Instruction& in) {
  const auto operands = text.operands(*in.text);
  return in.opcode == ptx::Opcode::setp && operands.size() == 3 &&
         operands[0].second == ptx::none && operands[1].kind == Kind::reg &&
         operands[2].kind == Kind::integer && operands[2].value == 0 &&
         !ptx::is_float(in.text->type()) &&
         (in.text->mods.has(ptx::Mod::eq) || in.text->mods.has(ptx::Mod::ne));
}

void find_drops(Function& function) { Drops(function).find(); }

const Drop* drop_of(const Function& function, std::uint32_t load) {
  const auto found =
      std::lower_bound(function.drops.begin(), function.drops.end(), load,
                       [](const Drop& each, std::uint32_t number) { return each.load < number; });
  return found != function.drops.end() && found->load == load ? &*found : nullptr;
}

}  // namespace inflight::machine
