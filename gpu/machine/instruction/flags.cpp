// Follows loaded values through registers to guards, branches and calls.
#include "gpu/machine/instruction/flags.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "gpu/machine/instruction/effort.hpp"
#include "gpu/machine/instruction/observed_access.hpp"
#include "gpu/machine/instruction/register_uses.hpp"

namespace inflight::machine {
namespace {

class Flags {
 public:
  explicit Flags(Function& function) : f_(function), effort_(function) {}

  void find() {
    for (std::uint32_t i = 0; i < f_.body.size(); ++i)
      for (const MemoryOperand& m : f_.body[i].memory)
        if (m.role == MemoryOperand::Role::load && m.order != check::Order::weak)
          f_.memory[static_cast<std::size_t>(&m - f_.memory.data())].flag =
              decides(i, check_space(m.space) == check::Space::shared);
  }

 private:
  // Whether what the instruction does with `reg` may decide where this thread or another one goes.
  static bool decides_by(const Instruction& in, const RegisterUse& use, bool from_shared) {
    if (use.operand == RegisterUse::guard_operand) return true;
    if (in.diverts() || in.control == Control::call) return true;
    return !from_shared && std::ranges::any_of(in.memory, [](const MemoryOperand& m) {
      return m.role == MemoryOperand::Role::store && check_space(m.space) == check::Space::shared;
    });
  }

  bool decides(std::uint32_t load, bool from_shared) {
    if (!uses_) uses_.emplace(f_, 0);
    if (!effort_.spend(f_.text->registers.size() / 64 + 1)) return true;
    std::vector<bool> depends(f_.text->registers.size());
    std::vector<std::uint32_t> open;
    const auto add = [&](const Instruction& in) {
      for (const RegisterUse& use : in.writes)
        if (!depends[use.reg]) depends[use.reg] = true, open.push_back(use.reg);
    };
    add(f_.body[load]);
    while (!open.empty()) {
      const std::uint32_t reg = open.back();
      open.pop_back();
      if (std::ranges::find(f_.text->returns, reg) != f_.text->returns.end()) return true;
      const auto readers = uses_->readers(reg);
      if (!effort_.spend(readers.size() + 1)) return true;
      for (const std::uint32_t i : readers) {
        const Instruction& in = f_.body[i];
        for (const RegisterUse& use : in.reads)
          if (use.reg == reg && decides_by(in, use, from_shared)) return true;
        // What memory holds does not become the value, nor does what an atomic returns.
        if (in.memory.empty()) add(in);
      }
    }
    return false;
  }

  Function& f_;
  Effort effort_;
  std::optional<RegisterUses> uses_;
};

}  // namespace

void find_flags(Function& function) { Flags(function).find(); }

}  // namespace inflight::machine
