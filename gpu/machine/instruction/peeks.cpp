// Compares the addresses of loads and atomics by the registers that they come from.
#include "gpu/machine/instruction/peeks.hpp"

#include <algorithm>
#include <compare>
#include <optional>
#include <set>
#include <vector>

#include "gpu/machine/instruction/effort.hpp"
#include "gpu/machine/instruction/register_uses.hpp"

namespace inflight::machine {
namespace {

using ptx::Opcode;
using Kind = ptx::Operand::Kind;
using Role = MemoryOperand::Role;

// An address, from its first register or variable on.
struct MemoryPlace {
  Address::Base base;
  std::uint32_t index;
  std::int64_t offset;
  auto operator<=>(const MemoryPlace&) const = default;
};

class Peeks {
 public:
  explicit Peeks(Function& function)
      : f_(function), effort_(function), writer_(f_.text->registers.size(), none) {
    for (std::uint32_t i = 0; i < f_.body.size(); ++i)
      for (const RegisterUse& use : f_.body[i].writes)
        writer_[use.reg] = writer_[use.reg] == none ? i : several;
  }

  void find() {
    for (const MemoryOperand& m : f_.memory)
      if (is_atomic(m)) updated_.insert(place_of(m.address));
    if (updated_.empty()) return;
    for (std::uint32_t b = 0; b < f_.flow.blocks.size(); ++b)
      for (std::uint32_t i = f_.flow.blocks[b].first; i < f_.flow.blocks[b].last; ++i)
        for (const MemoryOperand& m : f_.body[i].memory)
          if (m.role == Role::load && m.order == check::Order::weak)
            if (const MemoryPlace place = place_of(m.address); updated_.contains(place))
              f_.memory[static_cast<std::size_t>(&m - f_.memory.data())].peeks = peeks(b, i, place);
  }

 private:
  static constexpr std::uint32_t none = ~0u, several = none - 1;

  static bool is_atomic(const MemoryOperand& m) {
    return m.role == Role::atomic || m.role == Role::reduction;
  }

  // The register that `reg` is a copy of, or the sum of and a constant: the only writer says so.
  std::optional<std::uint32_t> source(std::uint32_t reg, std::int64_t& offset) const {
    const std::uint32_t at = writer_[reg];
    if (at >= several || f_.body[at].guard) return std::nullopt;
    const auto operands = f_.text->operands(*f_.body[at].text);
    const auto is = [&](std::size_t i, Kind kind) {
      return operands[i].kind == kind && operands[i].second == ptx::none;
    };
    switch (f_.body[at].opcode) {
      case Opcode::mov:
      case Opcode::cvta:
        if (operands.size() == 2 && is(1, Kind::reg)) return operands[1].index;
        return std::nullopt;
      case Opcode::add:
        if (operands.size() != 3 || !is(1, Kind::reg) || !is(2, Kind::integer)) return std::nullopt;
        offset += operands[2].value;
        return operands[1].index;
      default:
        return std::nullopt;
    }
  }

  MemoryPlace place_of(const Address& address) const {
    constexpr int most_steps = 16;
    const MemoryPlace whole{address.base, address.index, address.offset};
    if (whole.base != Address::Base::reg) return whole;
    MemoryPlace place = whole;
    for (int i = 0; i < most_steps; ++i) {
      const auto from = source(place.index, place.offset);
      if (!from) break;
      place.index = *from;
    }
    // The copy may be older than the register's value.
    return writer_[place.index] == several ? whole : place;
  }

  // By register: whether its value may depend on what instruction `load` loads. None: that is too
  // much to find out.
  std::optional<std::vector<bool>> dependents(std::uint32_t load) {
    if (!uses_) uses_.emplace(f_, 0);
    if (!effort_.spend(writer_.size() / 64)) return std::nullopt;
    std::vector<bool> depends(writer_.size());
    std::vector<std::uint32_t> open;
    const auto add = [&](const Instruction& in) {
      for (const RegisterUse& use : in.writes)
        if (!depends[use.reg]) depends[use.reg] = true, open.push_back(use.reg);
    };
    add(f_.body[load]);
    while (!open.empty()) {
      const auto readers = uses_->readers(open.back());
      open.pop_back();
      if (!effort_.spend(readers.size())) return std::nullopt;
      for (const std::uint32_t i : readers) add(f_.body[i]);
    }
    return depends;
  }

  static bool reads(const Instruction& in, const std::vector<bool>& registers) {
    return std::any_of(in.reads.begin(), in.reads.end(),
                       [&](const RegisterUse& use) { return registers[use.reg]; });
  }

  // What an instruction means for a search for an update of `place`.
  enum class Meets { update, end, nothing };
  Meets meets(const Instruction& in, const MemoryPlace& place) const {
    for (const MemoryOperand& m : in.memory)
      if (is_atomic(m) && place_of(m.address) == place) return Meets::update;
    if (in.control == Control::call) return Meets::end;
    if (const auto* const barrier = in.as<BarrierUse>())
      if (barrier->of != BarrierUse::Of::warp) return Meets::end;
    if (place.base == Address::Base::reg)
      for (const RegisterUse& use : in.writes)
        if (use.reg == place.index) return Meets::end;
    return Meets::nothing;
  }

  // Follows control from behind instruction `load` of block `b` to an update that depends on what
  // was loaded, or that a branch which does so leads to.
  bool peeks(std::uint32_t b, std::uint32_t load, const MemoryPlace& place) {
    const auto found_dependents = dependents(load);
    if (!found_dependents) return false;
    const std::vector<bool>& depends = *found_dependents;
    std::vector<bool> seen(f_.flow.blocks.size());
    std::vector<std::uint32_t> open;
    bool decided = false;
    const auto follow = [&](std::uint32_t block, std::uint32_t from) {
      if (!effort_.spend(f_.flow.blocks[block].last - from + 1)) {
        open.clear();
        return false;
      }
      for (std::uint32_t i = from; i < f_.flow.blocks[block].last; ++i) {
        const Instruction& in = f_.body[i];
        const bool dependent = reads(in, depends);
        const Meets found = meets(in, place);
        if (found == Meets::update) return decided || dependent;
        if (found == Meets::end) return false;
        decided |= dependent && in.control == Control::branch;
      }
      for (const std::uint32_t next : f_.flow.blocks[block].successors)
        if (!seen[next]) seen[next] = true, open.push_back(next);
      return false;
    };
    bool found = follow(b, load + 1);
    while (!found && !open.empty()) {
      const std::uint32_t next = open.back();
      open.pop_back();
      found = follow(next, f_.flow.blocks[next].first);
    }
    return found;
  }

  Function& f_;
  Effort effort_;
  std::optional<RegisterUses> uses_;
  std::vector<std::uint32_t> writer_;  // by register: its only writer
  std::set<MemoryPlace> updated_;      // by atomics
};

}  // namespace

void find_peeks(Function& function) { Peeks(function).find(); }

}  // namespace inflight::machine
