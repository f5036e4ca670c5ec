// Follows the loaded value to the end of its block.
#include "gpu/machine/instruction/comparisons.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/machine/instruction/drops.hpp"
#include "gpu/machine/instruction/observed_access.hpp"
#include "gpu/machine/instruction/register_uses.hpp"

namespace inflight::machine {
namespace {

constexpr std::uint32_t most_instructions = 64;  // from a load to the end of its block
constexpr std::size_t most_blocks = 64;          // in which a result is live

std::atomic<bool> any{false};

class Comparisons {
 public:
  explicit Comparisons(Function& function) : f_(function) {}

  void find() {
    for (const BasicBlock& block : f_.flow.blocks)
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        if (!is_candidate(f_.body[i]) || block.last - i > most_instructions) continue;
        std::optional<Comparison> found = comparison(block, i);
        if (!found) continue;
        f_.memory[static_cast<std::size_t>(f_.body[i].memory.data() - f_.memory.data())].decides =
            true;
        f_.comparisons.push_back(std::move(*found));
        any.store(true, std::memory_order_relaxed);
      }
    std::ranges::sort(f_.comparisons, {}, &Comparison::load);
  }

 private:
  using Registers = std::vector<std::uint32_t>;

  static bool has(const Registers& all, std::uint32_t reg) {
    return std::ranges::find(all, reg) != all.end();
  }
  static void add(Registers& all, std::uint32_t reg) {
    if (!has(all, reg)) all.push_back(reg);
  }

  static bool is_candidate(const Instruction& in) {
    if (in.opcode != ptx::Opcode::ld || in.memory.size() != 1 || in.writes.size() != 1)
      return false;
    const MemoryOperand& m = in.memory[0];
    const bool shared = m.space == ptx::Space::generic || m.space == ptx::Space::global ||
                        check_space(m.space) == check::Space::shared;
    return shared && m.role == MemoryOperand::Role::load && m.order != check::Order::weak;
  }

  std::optional<Comparison> comparison(const BasicBlock& block, std::uint32_t load) {
    Comparison found{load, block.last, {}};
    const std::uint32_t value = f_.body[load].writes[0].reg;
    Registers dependent{value}, unknown;  // unknown: not computed when the block is executed again
    for (std::uint32_t i = load + 1; i < block.last; ++i) {
      const Instruction& in = f_.body[i];
      const bool depends = std::ranges::any_of(
          in.reads, [&](const RegisterUse& use) { return has(dependent, use.reg); });
      const bool lacks = std::ranges::any_of(
          in.reads, [&](const RegisterUse& use) { return has(unknown, use.reg); });
      const bool computes = computes_alone(in);
      if (!computes)
        for (const RegisterUse& use : in.reads)
          if (has(dependent, use.reg)) found.results.push_back({use.reg, i});
      if (computes && depends && lacks) return std::nullopt;
      for (const RegisterUse& use : in.writes) {
        if (!in.guard) std::erase(dependent, use.reg);
        if (computes && depends) add(dependent, use.reg);
        if (!computes || lacks) add(unknown, use.reg);
      }
    }
    for (const std::uint32_t reg : dependent)
      if (is_live_behind(block, reg)) found.results.push_back({reg, block.last});
    const auto is_value = [&](const Comparison::Result& each) { return each.reg == value; };
    if (found.results.empty() || std::ranges::any_of(found.results, is_value)) return std::nullopt;
    return found;
  }

  bool is_live_behind(const BasicBlock& block, std::uint32_t reg) {
    if (std::ranges::find(f_.text->returns, reg) != f_.text->returns.end()) return true;
    if (!uses_) uses_.emplace(f_, most_blocks);
    const auto& live = uses_->live_blocks(reg);
    return !live || std::ranges::any_of(block.successors,
                                        [&](std::uint32_t next) { return has(*live, next); });
  }

  Function& f_;
  std::optional<RegisterUses> uses_;
};

}  // namespace

void find_comparisons(Function& function) { Comparisons(function).find(); }

const Comparison* comparison_of(const Function& function, std::uint32_t load) {
  const auto found = std::ranges::lower_bound(function.comparisons, load, {}, &Comparison::load);
  return found != function.comparisons.end() && found->load == load ? &*found : nullptr;
}

bool any_comparisons() { return any.load(std::memory_order_relaxed); }

}  // namespace inflight::machine
