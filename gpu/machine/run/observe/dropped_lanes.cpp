// Executes ahead and follows, lane by lane, which registers depend on the load.
//
// To the end of the load's block, a register's state is what its last writer made it. In later
// blocks it is what all writers that a lane may come to make it, whatever their order: the blocks
// are executed in layout order, again until nothing changes. There, a register that several
// instructions write has no known value.
#include "gpu/machine/run/observe/dropped_lanes.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "gpu/host/of_this_thread.hpp"
#include "gpu/machine/code/slots.hpp"
#include "gpu/machine/instruction/drops.hpp"
#include "gpu/machine/run/observe/on_copy.hpp"

namespace inflight::machine {
namespace {

using Kind = ptx::Operand::Kind;

// By lane: whether a register depends on the loaded value, whether its value is not known because
// what computes it was not executed, and whether it is not 0 even so.
struct State {
  std::uint32_t depends = 0, unknown = 0, nonzero = 0;
  std::uint32_t open() const { return depends | unknown; }
  std::uint32_t known() const { return ~open(); }
  State operator|(const State& o) const {
    return {depends | o.depends, unknown | o.unknown,
            (nonzero | ~open()) & (o.nonzero | ~o.open()) & (open() | o.open())};
  }
  State operator&(std::uint32_t lanes) const {
    return {depends & lanes, unknown & lanes, nonzero & lanes};
  }
  bool operator==(const State&) const = default;
};

// What a host thread keeps between loads.
struct Kept {
  std::vector<State> states;  // by register
  LineBuffer registers;       // at the end of the load's block
};

class Ahead {
 public:
  Ahead(Warp& w, const Op* load, std::uint32_t mask)
      : w_(w), f_(*w.frame->code->description), drop_(*drop_of(f_, load->instruction)), on_(w) {
    std::vector<State>& states = host::of_this_thread<Kept>().states;
    states.assign(f_.text->registers.size(), {});
    states_ = &states;
    for (const RegisterUse& use : f_.body[load->instruction].writes) set(use.reg, {mask, 0, 0});
  }

  // The lanes in which the value has an effect.
  std::uint32_t used(const Op* load) {
    execute(load->instruction + 1, drop_.end, load);
    if (!drop_.beyond.empty()) {
      follow();
    } else {
      const Instruction& last = f_.body[drop_.end - 1];
      std::uint32_t jumps = ~0u, stays = ~0u;  // lanes that may
      if (last.control == Control::branch && last.guard)
        jumps = may_execute(last), stays = may_execute(last, true);
      for (const std::uint32_t reg : drop_.live[0]) used_ |= at(reg).depends & jumps;
      for (const std::uint32_t reg : drop_.live[1]) used_ |= at(reg).depends & stays;
    }
    return used_;
  }

 private:
  State at(std::uint32_t reg) const { return (*states_)[reg]; }
  void set(std::uint32_t reg, State to) {
    State& state = (*states_)[reg];
    if (!beyond_) return void(state = to);
    if (f_.rewritten[reg]) to.unknown = w_.mask, to.nonzero = 0;
    const State before = state, made = to & w_.mask;
    state = {before.depends | made.depends, before.unknown | made.unknown,
             (before.nonzero & ~w_.mask) | made.nonzero};
    changed_ |= state != before;
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
      if (use.operand != RegisterUse::guard_operand) {
        const State each = at(use.reg);
        all.depends |= each.depends, all.unknown |= each.unknown;
      }
    return all;
  }

  // The lanes in which an integer operand is not 0.
  std::uint32_t nonzero(const ptx::Operand& o) const {
    if (o.kind == Kind::integer) return o.value != 0 ? ~0u : 0;
    if (o.kind != Kind::reg) return 0;
    const std::size_t width = slot_bytes(f_.text->registers[o.index].type) / lanes;
    const auto* const bytes = w_.at<std::byte>(w_.frame->code->slots[o.index]);
    const State state = at(o.index);
    std::uint32_t is = state.nonzero;
    for (unsigned l = 0; l < lanes; ++l)
      if ((state.known() >> l & 1) != 0 &&
          std::any_of(bytes + l * width, bytes + (l + 1) * width,
                      [](std::byte each) { return each != std::byte{}; }))
        is |= 1u << l;
    return is;
  }

  // What an instruction computes in which one operand may decide.
  State decided(const Instruction& in) const {
    const auto operands = f_.text->operands(*in.text);
    const auto state = [&](std::size_t i) {
      return operands[i].kind == Kind::reg ? at(operands[i].index) : State{};
    };
    if (in.opcode == ptx::Opcode::selp) {
      const State p = state(3);
      const std::uint32_t is = value(operands[3].index, operands[3].negated);
      return p | (state(1) & (is | ~p.known())) | (state(2) & (~is | ~p.known()));
    }
    std::uint32_t decides = 0;
    for (const std::size_t i : {1u, 2u}) {
      if (operands[i].kind != Kind::reg) continue;
      const std::uint32_t is = value(operands[i].index, operands[i].negated);
      decides |= state(i).known() & (in.opcode == ptx::Opcode::and_ ? ~is : is);
    }
    return (state(1) | state(2)) & ~decides;
  }

  State made_by(const Instruction& in) const {
    if (may_decide(*f_.text, in)) return decided(in);
    State made = inputs(in);
    if (made.open() == 0) return made;
    const auto operands = f_.text->operands(*in.text);
    if (compares_with_zero(*f_.text, in)) return made & ~nonzero(operands[1]);
    if (in.opcode == ptx::Opcode::or_ && operands.size() == 3)
      made.nonzero = made.open() & (nonzero(operands[1]) | nonzero(operands[2]));
    return made;
  }

  // Instructions `from` to `to`, whose ops are not before `op`.
  void execute(std::uint32_t from, std::uint32_t to, const Op* op) {
    for (std::uint32_t i = from; i < to; ++i) {
      op = on_.first(op, i);
      step(f_.body[i], i, op);
    }
  }

  void step(const Instruction& in, std::uint32_t number, const Op* op) {
    const std::uint32_t may = may_execute(in);
    if (in.guard)
      used_ |= in.control == Control::next && computes_alone(in)
                   ? 0
                   : at(in.guard.reg).depends & w_.mask;
    if (in.control == Control::branch) return;
    if (!computes_alone(in)) {
      used_ |= inputs(in).depends & may & w_.mask;
      for (const RegisterUse& use : in.writes)
        set(use.reg, {in.guard ? at(use.reg).depends : 0, ~0u, 0});
      return;
    }
    State made = made_by(in);
    if (in.guard) {
      const State guard = at(in.guard.reg);
      made = {(made.depends | guard.depends) & may, (made.unknown | guard.unknown) & may, 0};
      const std::uint32_t must = may & guard.known();
      for (const RegisterUse& use : in.writes) set(use.reg, made | (at(use.reg) & ~must));
    } else {
      for (const RegisterUse& use : in.writes) set(use.reg, made);
    }
    on_.execute(op, number);
  }

  // Follows the lanes that go on to later blocks.
  void follow() {
    LineBuffer& kept = host::of_this_thread<Kept>().registers;
    LineBuffer& registers = on_.registers();
    kept.resize(registers.size());
    std::memcpy(kept.data(), registers.data(), registers.size());
    const auto load_block = std::find_if(f_.flow.blocks.begin(), f_.flow.blocks.end(),
                                         [&](const auto& b) { return b.last == drop_.end; });
    const std::uint32_t all = w_.mask;
    reach_.assign(drop_.beyond.size(), 0);
    leave(*load_block, 0);
    beyond_ = true;
    w_.whole = false;
    for (int pass = 0;; ++pass) {
      changed_ = went_back_ = false;
      for (std::size_t k = 0; k < drop_.beyond.size(); ++k) {
        w_.mask = reach_[k] & ~used_;
        if (w_.mask != 0) block(k);
      }
      w_.mask = all;
      if (!changed_ || !went_back_) return;
      if (pass == most_passes) break;
      std::memcpy(registers.data(), kept.data(), registers.size());
    }
    for (const std::uint32_t lanes : reach_) used_ |= lanes;
  }

  void block(std::size_t k) {
    const std::uint32_t number = drop_.beyond[k], start = w_.frame->code->block_start[number];
    const BasicBlock& block = f_.flow.blocks[number];
    execute(block.first, block.last, w_.frame->code->ops.data() + start);
    if (block.successors.empty())
      for (const std::uint32_t reg : f_.text->returns)
        if (reg < states_->size()) used_ |= at(reg).depends & w_.mask;
    leave(block, k);
  }

  // The active lanes go from the block, the one at `k` if it is a later one, to the next ones.
  void leave(const BasicBlock& block, std::size_t k) {
    const bool branches = block.successors.size() == 2 && block.falls_through &&
                          f_.body[block.last - 1].control == Control::branch;
    for (std::size_t s = 0; s < block.successors.size(); ++s) {
      const std::uint32_t going =
          w_.mask & ~used_ & (branches ? may_execute(f_.body[block.last - 1], s == 1) : ~0u);
      const auto next = std::ranges::find(drop_.beyond, block.successors[s]);
      if (going == 0 || next == drop_.beyond.end()) continue;
      const auto to = static_cast<std::size_t>(next - drop_.beyond.begin());
      changed_ |= (going & ~reach_[to]) != 0;
      went_back_ |= beyond_ && to <= k;
      reach_[to] |= going;
    }
  }

  static constexpr int most_passes = 8;
  Warp& w_;
  const Function& f_;
  const Drop& drop_;
  OnCopy on_;
  std::vector<State>* states_ = nullptr;  // by register
  std::uint32_t used_ = 0;
  std::vector<std::uint32_t> reach_;  // by later block: lanes that may come there
  bool beyond_ = false, changed_ = false, went_back_ = false;
};

}  // namespace

std::uint32_t dropped_lanes(Warp& w, const Op* op, std::uint32_t mask) {
  return mask & ~Ahead(w, op, mask).used(op);
}

}  // namespace inflight::machine
