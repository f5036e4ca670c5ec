// Follows control from an atomic to the branch on its result, and from there back.
#include "gpu/machine/instruction/spins.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "gpu/machine/instruction/effort.hpp"

namespace inflight::machine {
namespace {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;
using Role = MemoryOperand::Role;
using Registers = std::vector<bool>;  // by register

class Spins {
 public:
  explicit Spins(Function& function) : f_(function), effort_(function) {}

  void find() {
    // Compilers put a first attempt before the loop, so one may lead to another.
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t b = 0; b < f_.flow.blocks.size(); ++b)
        for (std::uint32_t i = f_.flow.blocks[b].first; i < f_.flow.blocks[b].last; ++i)
          if (is_candidate(f_.body[i]) && !f_.body[i].memory[0].spins && spins(b, i))
            memory_of(f_.body[i]).spins = more = true;
    }
  }

 private:
  static constexpr std::uint32_t none = ~0u, several = none - 1;
  static constexpr int most_steps = 16;  // blocks before the branch, and registers before another

  // The branch that the result decides.
  struct Decision {
    std::uint32_t block;
    Registers written;                  // on the way there
    std::vector<std::uint32_t> others;  // registers that decide it together with the result
  };

  static bool is(const Instruction& in, AtomicUse::Operation operation) {
    const auto* const use = in.as<AtomicUse>();
    return use && use->operation == operation;
  }
  static bool is_candidate(const Instruction& in) {
    return in.memory.size() == 1 && in.memory[0].role == Role::atomic && !in.guard &&
           (is(in, AtomicUse::Operation::compare_and_swap) ||
            is(in, AtomicUse::Operation::exchange));
  }

  MemoryOperand& memory_of(const Instruction& in) {
    return f_.memory[static_cast<std::size_t>(in.memory.data() - f_.memory.data())];
  }

  bool spins(std::uint32_t b, std::uint32_t atomic) {
    if (!effort_.spend(f_.text->registers.size() / 16)) return false;
    const auto decision = decided(b, atomic);
    if (!decision) return false;
    const BasicBlock& block = f_.flow.blocks[decision->block];
    if (block.successors.size() != 2 || block.successors[0] == block.successors[1]) return false;
    const auto one = back(block.successors[0], atomic), other = back(block.successors[1], atomic);
    if (one.has_value() == other.has_value()) return false;
    Registers written = one ? *one : *other;
    for (std::size_t i = 0; i < written.size(); ++i)
      if (decision->written[i]) written[i] = true;
    const auto same = [&](std::uint32_t reg) { return is_constant(reg, written, most_steps); };
    return std::ranges::all_of(decision->others, same) &&
           std::ranges::all_of(f_.body[atomic].reads, [&](const RegisterUse& use) {
             return !decides(f_.body[atomic], use.operand) || same(use.reg);
           });
  }

  // The operand is the address, or the value that a compare-and-swap expects.
  static bool decides(const Instruction& in, std::uint8_t operand) {
    const std::uint8_t address = in.memory[0].operand;
    return operand == address ||
           (is(in, AtomicUse::Operation::compare_and_swap) && operand == address + 1);
  }

  // Follows control from behind the atomic to the first conditional branch.
  std::optional<Decision> decided(std::uint32_t b, std::uint32_t atomic) {
    Decision d{b, Registers(f_.text->registers.size()), {}};
    Registers depends(f_.text->registers.size());
    for (const RegisterUse& use : f_.body[atomic].writes)
      depends[use.reg] = d.written[use.reg] = true;
    std::uint32_t i = atomic + 1;
    for (int step = 0; step < most_steps; ++step) {
      const BasicBlock& block = f_.flow.blocks[d.block];
      for (; i < block.last; ++i) {
        const Instruction& in = f_.body[i];
        if (in.control == Control::branch) {
          if (!in.guard) break;
          return depends[in.guard.reg] ? std::optional(std::move(d)) : std::nullopt;
        }
        if (!only_computes(in)) return std::nullopt;
        const bool dependent =
            std::ranges::any_of(in.reads, [&](const RegisterUse& use) { return depends[use.reg]; });
        for (const RegisterUse& use : in.reads)
          if (dependent && !depends[use.reg]) d.others.push_back(use.reg);
        if (dependent && !is_pure(in)) return std::nullopt;
        for (const RegisterUse& use : in.writes) {
          if (!dependent && depends[use.reg]) return std::nullopt;
          depends[use.reg] = dependent;
          d.written[use.reg] = true;
        }
      }
      if (block.successors.size() != 1) return std::nullopt;
      d.block = block.successors[0];
      i = f_.flow.blocks[d.block].first;
      if (d.block == b) return std::nullopt;
    }
    return std::nullopt;
  }

  // Both try to take one lock, if the registers of the address stay the same.
  bool are_alike(const Instruction& a, const Instruction& b) const {
    const Address &one = a.memory[0].address, &other = b.memory[0].address;
    return a.as<AtomicUse>()->operation == b.as<AtomicUse>()->operation && one.base == other.base &&
           one.index == other.index && one.offset == other.offset;
  }

  // The registers written on the paths from block `from` back to the atomic, or to one like it that
  // spins. None: another path exists, or none leads there.
  std::optional<Registers> back(std::uint32_t from, std::uint32_t atomic) {
    Registers written(f_.text->registers.size());
    std::vector<bool> seen(f_.flow.blocks.size());
    std::vector<std::uint32_t> open{from};
    seen[from] = true;
    bool arrives = false;
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      const BasicBlock& block = f_.flow.blocks[at];
      if (!effort_.spend(block.last - block.first + 1)) return std::nullopt;
      std::uint32_t i = block.first;
      for (; i < block.last; ++i) {
        const Instruction& in = f_.body[i];
        if (i == atomic ||
            (is_candidate(in) && in.memory[0].spins && are_alike(in, f_.body[atomic])))
          break;
        if (in.control != Control::branch && !only_computes(in)) return std::nullopt;
        for (const RegisterUse& use : in.writes) written[use.reg] = true;
      }
      if (i < block.last) {
        arrives = true;
        continue;
      }
      if (block.successors.empty()) return std::nullopt;
      for (const std::uint32_t next : block.successors)
        if (!seen[next]) seen[next] = true, open.push_back(next);
    }
    return arrives ? std::optional(std::move(written)) : std::nullopt;
  }

  // It ends and holds up no thread, and changes nothing that another thread sees.
  static bool only_computes(const Instruction& in) {
    if (in.opcode == Opcode::nanosleep) return true;
    if (in.control != Control::next) return false;
    if (in.effect == Effect::other && !in.as<Fence>()) return false;
    return std::ranges::all_of(in.memory, [](const MemoryOperand& m) {
      return m.role == Role::load || m.role == Role::advice ||
             (m.role == Role::store && m.space == ptx::Space::local);
    });
  }

  // Its result depends on its operands alone.
  bool is_pure(const Instruction& in) const {
    const auto is_constant = [](const MemoryOperand& m) {
      return m.space == ptx::Space::param || m.space == ptx::Space::param_entry ||
             m.space == ptx::Space::constant;
    };
    const bool loads_constant =
        in.family == Family::load && std::ranges::all_of(in.memory, is_constant);
    if (in.control != Control::next || !(computes(in.effect) || loads_constant)) return false;
    return !in.reads_carry && std::ranges::none_of(f_.text->operands(*in.text), [](const auto& o) {
      return o.kind == Kind::special;
    });
  }

  // The register has the same value in every turn of a loop that writes the registers of `written`.
  bool is_constant(std::uint32_t reg, const Registers& written, int steps) {
    if (!written[reg]) return true;
    if (steps == 0 || !effort_.spend(1)) return false;
    const std::uint32_t at = writer(reg);
    if (at >= several || f_.body[at].guard || !is_pure(f_.body[at])) return false;
    return std::ranges::all_of(f_.body[at].reads, [&](const RegisterUse& use) {
      return is_constant(use.reg, written, steps - 1);
    });
  }

  // The only instruction that writes the register.
  std::uint32_t writer(std::uint32_t reg) {
    if (writers_.empty()) {
      writers_.assign(f_.text->registers.size(), none);
      for (std::uint32_t i = 0; i < f_.body.size(); ++i)
        for (const RegisterUse& use : f_.body[i].writes)
          writers_[use.reg] = writers_[use.reg] == none ? i : several;
    }
    return writers_[reg];
  }

  Function& f_;
  Effort effort_;
  std::vector<std::uint32_t> writers_;  // by register
};

}  // namespace

void find_spins(Function& function) { Spins(function).find(); }

}  // namespace inflight::machine
