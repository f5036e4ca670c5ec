// Executes ahead and follows, lane by lane, which registers depend on the load.
#include "gpu/machine/run/dropped_lanes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "gpu/machine/instruction/drops.hpp"
#include "gpu/machine/run/counts.hpp"
#include "gpu/machine/run/undefined_steps.hpp"

namespace inflight::machine {
namespace {

// By lane: whether a register depends on the loaded value, and whether its value is not known
// because what computes it was not executed.
struct State {
  std::uint32_t depends = 0, unknown = 0;
  std::uint32_t known() const { return ~(depends | unknown); }
  State operator|(const State& o) const { return {depends | o.depends, unknown | o.unknown}; }
  State operator&(std::uint32_t lanes) const { return {depends & lanes, unknown & lanes}; }
};

class Ahead {
 public:
  Ahead(Warp& w, const Op* load, std::uint32_t mask)
      : w_(w), f_(*w.frame->code->description), drop_(*drop_of(f_, load->instruction)) {
    for (const RegisterUse& use : f_.body[load->instruction].writes) set(use.reg, {mask, 0});
  }

  // The lanes in which the value has an effect.
  std::uint32_t used(const Op* load) {
    static thread_local LineBuffer registers;
    const LineBuffer& now = w_.frame->registers;
    registers.resize(now.size());
    std::memcpy(registers.data(), now.data(), now.size());
    std::vector<Count> counts(w_.frame->code->count_slots);  // what it executes does not count
    Count* const kept_counts = std::exchange(w_.frame->counts, counts.data());
    const std::uint32_t carry = w_.carry, counted_lanes = w_.counted_lanes;
    const OnVariant on(w_, registers.data());
    const Op* op = load;
    for (std::uint32_t i = load->instruction + 1; i < drop_.end; ++i) {
      while (op->instruction < i) ++op;
      step(f_.body[i], i, op);
    }
    const Instruction& last = f_.body[drop_.end - 1];
    std::uint32_t jumps = ~0u, stays = ~0u;  // lanes that may
    if (last.control == Control::branch && last.guard)
      jumps = may_execute(last), stays = may_execute(last, true);
    for (const std::uint32_t reg : drop_.live[0]) used_ |= at(reg).depends & jumps;
    for (const std::uint32_t reg : drop_.live[1]) used_ |= at(reg).depends & stays;
    w_.frame->counts = kept_counts;
    w_.carry = carry, w_.counted_lanes = counted_lanes;
    return used_;
  }

 private:
  State at(std::uint32_t reg) const {
    const auto found = std::find_if(states_.begin(), states_.end(),
                                    [&](const auto& each) { return each.first == reg; });
    return found == states_.end() ? State{} : found->second;
  }
  void set(std::uint32_t reg, State to) {
    for (auto& [each, state] : states_)
      if (each == reg) return void(state = to);
    if ((to.depends | to.unknown) != 0) states_.emplace_back(reg, to);
  }
  std::uint32_t value(std::uint32_t reg, bool negated) const {
    return w_.predicate(w_.frame->code->slots[reg], negated);
  }
  // The lanes whose guard is true, or may be.
  std::uint32_t may_execute(const Instruction& in, bool other = false) const {
    if (!in.guard) return ~0u;
    return value(in.guard.reg, in.guard.negated != other) | ~at(in.guard.reg).known();
  }

  State inputs(const Instruction& in) const {
    State all;
    for (const RegisterUse& use : in.reads)
      if (use.operand != RegisterUse::guard_operand) all = all | at(use.reg);
    return all;
  }

  // What an instruction computes in which one operand may decide.
  State decided(const Instruction& in) const {
    const auto operands = f_.text->operands(*in.text);
    const auto state = [&](std::size_t i) {
      return operands[i].kind == ptx::Operand::Kind::reg ? at(operands[i].index) : State{};
    };
    if (in.opcode == ptx::Opcode::selp) {
      const State p = state(3);
      const std::uint32_t is = value(operands[3].index, operands[3].negated);
      return p | (state(1) & (is | ~p.known())) | (state(2) & (~is | ~p.known()));
    }
    std::uint32_t decides = 0;
    for (const std::size_t i : {1u, 2u}) {
      if (operands[i].kind != ptx::Operand::Kind::reg) continue;
      const std::uint32_t is = value(operands[i].index, operands[i].negated);
      decides |= state(i).known() & (in.opcode == ptx::Opcode::and_ ? ~is : is);
    }
    return (state(1) | state(2)) & ~decides;
  }

  void step(const Instruction& in, std::uint32_t number, const Op* op) {
    const std::uint32_t may = may_execute(in);
    if (in.guard)
      used_ |= in.control == Control::next && computes_alone(in) ? 0 : at(in.guard.reg).depends;
    if (in.control == Control::branch) return;
    if (!computes_alone(in)) {
      used_ |= inputs(in).depends & may;
      for (const RegisterUse& use : in.writes)
        set(use.reg, {in.guard ? at(use.reg).depends : 0, ~0u});
      return;
    }
    State made = may_decide(*f_.text, in) ? decided(in) : inputs(in);
    if (in.guard) {
      const State guard = at(in.guard.reg);
      made = (made | guard) & may;
      const std::uint32_t must = may & guard.known();
      for (const RegisterUse& use : in.writes) set(use.reg, made | (at(use.reg) & ~must));
    } else {
      for (const RegisterUse& use : in.writes) set(use.reg, made);
    }
    if (number + 1 == drop_.end) return;
    for (; op->instruction == number; ++op)
      if (!is_reporter(op) && !goes_elsewhere(op)) op->run(w_, op);
  }

  Warp& w_;
  const Function& f_;
  const Drop& drop_;
  std::vector<std::pair<std::uint32_t, State>> states_;  // by register; others are known
  std::uint32_t used_ = 0;
};

}  // namespace

std::uint32_t dropped_lanes(Warp& w, const Op* op, std::uint32_t mask) {
  return mask & ~Ahead(w, op, mask).used(op);
}

}  // namespace inflight::machine
