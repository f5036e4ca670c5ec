// Follows bits that the program has never written, from their load to their uses.
#include "gpu/machine/run/undefined.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/undefined_steps.hpp"
#include "gpu/tensor/element.hpp"

namespace inflight::machine {
namespace {

using How = check::UndefinedUse::How;
using Role = MemoryOperand::Role;
using ptx::Opcode;

// Does the instruction only compute registers from registers?
bool computes(const Instruction& what) {
  return what.memory.empty() && !what.follows_multiplies && !what.awaits_multiplies &&
         machine::computes(what.effect);
}

// Does the instruction leave each bit that it takes from an operand where it is in its byte?
bool keeps_bits(const Instruction& what) {
  return what.effect == Effect::moves || what.effect == Effect::keeps;
}

// Whether it is the operand that selects, of selp or slct.
bool chooses(const Instruction& what, const RegisterUse& use) {
  return what.family == Family::compare && use.operand == 3;
}

// The bytes of one of the values that the type packs.
unsigned part_of(ptx::Type type) {
  switch (type) {
    case ptx::Type::f16x2:
    case ptx::Type::bf16x2:
    case ptx::Type::u16x2:
    case ptx::Type::s16x2:
      return 2;
    case ptx::Type::f32x2:
      return 4;
    default:
      return UndefinedRegisters::Written{}.part;
  }
}

// The bytes of one of the values that the instruction packs into a register. It computes each from
// the values at the same place only, or moves them.
unsigned part_of(UndefinedRegisters& u, const Instruction& what) {
  const ptx::Instruction& in = *what.text;
  if (const auto* const use = what.as<TensorUse>())
    return use->product.d == tensor::Element::f16 ? 2 : 4;
  if (what.effect != Effect::moves) return part_of(in.type());
  unsigned part = 0;
  for (const RegisterUse& use : what.reads) {
    if (u.origin[use.reg] == 0) continue;
    if (u.is_predicate(use.reg) || chooses(what, use)) return UndefinedRegisters::Written{}.part;
    part = std::max(part, unsigned{u.part[use.reg]});
  }
  return std::max(part, 1u);
}

// The member mask that a lane names in a collective whose members are named.
std::uint32_t members_of(const Warp& w, const Instruction& what, int lane) {
  const Code& code = *w.frame->code;
  const ptx::Operand& last = code.function->operands(*what.text).back();
  return last.kind == ptx::Operand::Kind::reg ? w.at<std::uint32_t>(code.slots[last.index])[lane]
                                              : static_cast<std::uint32_t>(last.value);
}

// The active lanes whose member mask at the collective is that of the first lane of `rest`.
std::uint32_t group_of(const Warp& w, const Instruction& what, std::uint32_t rest) {
  const std::uint32_t members = members_of(w, what, std::countr_zero(rest));
  std::uint32_t group = 0;
  for (std::uint32_t m = rest; m != 0; m &= m - 1)
    if (const int l = std::countr_zero(m); members_of(w, what, l) == members) group |= 1u << l;
  return group;
}

// Are all its lanes here, so that it runs at once and only on this warp's registers?
bool is_complete(const Warp& w, const Instruction& what) {
  if (what.control != Control::meet) return true;
  const auto* const collective = what.as<CollectiveUse>();
  if (!collective) return w.mask == w.alive;
  if (!collective->named) return true;
  for (std::uint32_t rest = w.mask; rest != 0;) {
    const std::uint32_t members = members_of(w, what, std::countr_zero(rest));
    const std::uint32_t group = group_of(w, what, rest);
    if ((members & w.alive & ~group) != 0 || (group & ~members) != 0) return false;
    if (group != w.mask && what.guard) return false;
    rest &= ~group;
  }
  return true;
}

// An operand of a comparison: its bits in a variant, or with variant_count the actual ones.
class Compared {
 public:
  Compared(const Warp& w, UndefinedRegisters& u, const ptx::Operand& operand, std::size_t bytes)
      : u_(u), operand_(operand), bytes_(bytes) {
    if (!is_register()) return;
    width_ = u.slot_size(operand.index) / lanes;
    known_ = w.frame->code->slots[operand.index] != no_ref && width_ >= bytes;
  }
  bool known() const { return known_; }
  std::uint64_t value(unsigned variant, unsigned lane) const {
    std::uint64_t bits = static_cast<std::uint64_t>(operand_.value);
    if (is_register()) {
      const std::byte* const at =
          variant < variant_count ? u_.at(variant, operand_.index) : u_.actual(operand_.index);
      bits = 0;
      std::memcpy(&bits, at + lane * width_, bytes_);
    }
    return bytes_ < sizeof bits ? bits & ((std::uint64_t{1} << 8 * bytes_) - 1) : bits;
  }

 private:
  bool is_register() const { return operand_.kind == ptx::Operand::Kind::reg; }

  UndefinedRegisters& u_;
  const ptx::Operand& operand_;
  std::size_t bytes_, width_ = 0;
  bool known_ = operand_.kind == ptx::Operand::Kind::integer;
};

// A comparison for equality of undefined operands has an undefined result, unless defined bits
// already differ. A few variants cannot try every value, so this sets a variant to the other
// result.
void judge_equality(Warp& w, UndefinedRegisters& u, const Instruction& what) {
  const ptx::Instruction& in = *what.text;
  const bool asks = in.mods.has(ptx::Mod::eq) || in.mods.has(ptx::Mod::ne);
  const std::size_t width = ptx::size_of(in.type());
  if (what.opcode != Opcode::setp || !asks || ptx::is_float(in.type()) || width < 2) return;
  const auto operands = w.frame->code->function->operands(in);
  if (operands.size() != 3 || operands[0].kind != ptx::Operand::Kind::reg) return;
  if (w.frame->code->slots[operands[0].index] == no_ref) return;
  const Compared one(w, u, operands[1], width), other(w, u, operands[2], width);
  if (!one.known() || !other.known()) return;
  std::uint32_t open = 0;
  for (std::uint32_t m = executing(w, what); m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    const std::uint64_t a = one.value(variant_count, l), b = other.value(variant_count, l);
    std::uint64_t undefined = 0;
    bool follows = true;  // a ^ b is the same in all variants: the same undefined bits
    for (unsigned v = 0; v < variant_count; ++v) {
      const std::uint64_t x = one.value(v, l), y = other.value(v, l);
      undefined |= (a ^ x) | (b ^ y);
      follows = follows && (x ^ y) == (a ^ b);
    }
    if (undefined != 0 && !follows && ((a ^ b) & ~undefined) == 0) open |= 1u << l;
  }
  if (open == 0) return;
  const std::uint32_t result = operands[0].index;
  auto* const p = reinterpret_cast<std::uint32_t*>(u.at(0, result));
  *p = (*p & ~open) | (~*reinterpret_cast<const std::uint32_t*>(u.actual(result)) & open);
}

bool writes_undefined(const UndefinedRegisters& u, const Instruction& what) {
  return std::any_of(what.writes.begin(), what.writes.end(),
                     [&](const RegisterUse& use) { return u.origin[use.reg] != 0; });
}

void report_use(const Warp& w, const Op* op, std::uint32_t mask, How how, std::uint32_t origin) {
  const Observation* const o = w.block->grid->observation;
  if (o && mask != 0) o->listener().undefined_used({o->who(w, mask, op), how, origin});
}

// Lanes of `mask` decide something by the register's bits. Reports undefined ones once.
void decide(Warp& w, UndefinedRegisters& u, const Op* op, std::uint32_t reg, std::uint32_t mask,
            How how) {
  if (u.origin[reg] == 0) return;
  report_use(w, op, u.lanes_of(reg) & mask, how, u.origin[reg]);
  u.define(w, reg, mask);
}

// Does the instruction act on the values of its operands, rather than carry them to a place or to
// other lanes?
bool decides_by_operands(const Instruction& what) {
  if (what.control == Control::branch_table || what.as<BarrierUse>()) return true;
  if (what.memory.empty() || what.family == Family::texture) return false;
  const Role role = what.memory.front().role;
  return role != Role::load && role != Role::store && role != Role::advice;
}

void check_uses(Warp& w, UndefinedRegisters& u, const Op* op, const Instruction& what) {
  if (what.guard && (what.diverts() || what.control == Control::branch || !what.memory.empty()))
    decide(w, u, op, what.guard.reg, w.mask, How::branch);
  if (what.control == Control::branch) return;
  const std::uint32_t mask = executing(w, what);
  for (const RegisterUse& use : what.reads) {
    if (use.operand == RegisterUse::guard_operand || u.origin[use.reg] == 0) continue;
    const bool address = std::any_of(
        what.memory.begin(), what.memory.end(),
        [&](const MemoryOperand& m) { return m.operand == use.operand && m.role != Role::advice; });
    if (address)
      decide(w, u, op, use.reg, mask, How::address);
    else if (decides_by_operands(what))
      decide(w, u, op, use.reg, mask,
             what.control == Control::branch_table ? How::branch : How::operand);
  }
}

// For an instruction that does more than compute: what it writes is defined.
const Op* run_apart(Warp& w, UndefinedRegisters& u, const Op* op, const Instruction& what) {
  if (op->is(Op::begins)) check_uses(w, u, op, what);
  const std::uint32_t mask = executing(w, what);
  const bool comes_back = what.control == Control::next || what.control == Control::meet ||
                          what.control == Control::wait;
  const std::uint64_t loads = u.loads;
  const Op* const next = op->handler()(w, op);
  if (next && comes_back && &u.frame == w.frame && u.loads == loads)
    for (const RegisterUse& use : what.writes) u.define(w, use.reg, mask);
  return next;
}

void run_variants(Warp& w, UndefinedRegisters& u, const Op* op, const Instruction& what,
                  std::uint32_t carry_before) {
  const auto* const collective = what.as<CollectiveUse>();
  const bool grouped = collective && collective->named && group_of(w, what, w.mask) != w.mask;
  const std::uint32_t carry = w.carry;
  for (unsigned v = 0; v < variant_count; ++v) {
    const OnVariant on(w, u, v);
    w.carry = u.carry_origin != 0 ? u.carry[v] : carry_before;
    for (std::uint32_t rest = w.mask; rest != 0;) {
      const std::uint32_t group = grouped ? group_of(w, what, rest) : rest;
      if (grouped) w.mask = group, w.whole = false;
      (op->is(Op::wraps) ? op->inner : op->handler())(w, op);
      rest &= ~group;
    }
    u.carry[v] = w.carry;
  }
  w.carry = carry;
}

// For an instruction that computes: runs on the variants too.
const Op* run_computing(Warp& w, UndefinedRegisters& u, const Op* op, const Instruction& what) {
  const bool first = op->is(Op::begins);
  if (first && what.guard && what.diverts()) decide(w, u, op, what.guard.reg, w.mask, How::branch);
  if (goes_elsewhere(op)) return op->handler()(w, op);
  if (!is_complete(w, what)) return run_apart(w, u, op, what);
  if (!first && u.expected != op) u.refresh();
  if (first || u.expected != op) prepare(u, what);
  u.expected = op + 1;
  const unsigned part = part_of(u, what);
  const std::uint32_t carry = w.carry;
  const Op* const next = op->handler()(w, op);
  if (next != op + 1 || is_reporter(op)) return next;
  run_variants(w, u, op, what, carry);
  if (what.writes_carry)
    u.carry_origin = std::any_of(u.carry.begin(), u.carry.end(),
                                 [&](std::uint32_t each) { return each != w.carry; })
                         ? u.following
                         : 0;
  if (next->instruction == op->instruction && !goes_elsewhere(next)) return next;
  judge_equality(w, u, what);
  for (const RegisterUse& use : what.writes)
    u.judge(w, use.reg, u.following, executing(w, what),
            {u.inputs_moved && keeps_bits(what), part});
  return next;
}

}  // namespace

bool is_reporter(const Op* op) { return op->is(Op::reports); }

bool goes_elsewhere(const Op* op) { return op->is(Op::diverts); }

std::uint32_t executing(const Warp& w, const Instruction& what) {
  if (!what.guard || what.control == Control::branch) return w.mask;
  return w.mask & w.predicate(w.frame->code->slots[what.guard.reg], what.guard.negated);
}

void take_inputs(UndefinedRegisters& u, const Instruction& what) {
  u.following = origin_of(u, what);
  u.inputs_moved = std::all_of(what.reads.begin(), what.reads.end(), [&](const RegisterUse& use) {
    return u.origin[use.reg] == 0 || u.moved[use.reg];
  });
}

std::uint32_t origin_of(const UndefinedRegisters& u, const Instruction& what) {
  for (const RegisterUse& use : what.reads)
    if (u.origin[use.reg] != 0) return u.origin[use.reg];
  return what.reads_carry ? u.carry_origin : 0;
}

void prepare(UndefinedRegisters& u, const Instruction& what) {
  const auto& slots = u.frame.code->slots;
  for (const RegisterUse& use : what.reads)
    if (!u.is_undefined(use.reg)) u.copy(use.reg, all_lanes);
  for (const RegisterUse& written : what.writes) {
    const bool taken =
        std::any_of(what.reads.begin(), what.reads.end(), [&](const RegisterUse& use) {
          return u.is_undefined(use.reg) && slots[use.reg] == slots[written.reg];
        });
    if (!taken && !u.is_undefined(written.reg)) u.copy(written.reg, all_lanes);
  }
}

const Op* follow_one(Warp& w, const Op* op) {
  const std::shared_ptr<UndefinedRegisters> u = w.frame->undefined;
  if (!u || (u->count == 0 && u->carry_origin == 0)) return op->handler()(w, op);
  const Instruction& what = instruction_at(*w.frame, op);
  if (u->expected != op || op->is(Op::begins)) take_inputs(*u, what);
  if (u->following == 0 && !writes_undefined(*u, what)) return op->handler()(w, op);
  return u->following != 0 && computes(what) ? run_computing(w, *u, op, what)
                                             : run_apart(w, *u, op, what);
}

const Op* follow(Warp& w, const Op* pc) {
  w.tracks_undefined = true;
  while (pc && w.undefined != 0) pc = follow_one(w, pc);
  w.tracks_undefined = false;
  return pc;
}

const Op* follow_load(Warp& w, const Op* op, const check::UndefinedBytes& loaded) {
  if (is_matrix(instruction_at(*w.frame, op))) {
    const Op* const next = load_matrix(w, op, loaded);
    return w.tracks_undefined ? next : follow(w, next);
  }
  bool done = false;
  const Op* const next = run_rest(w, op, done);
  return done ? follow_load(w, op, loaded, next) : next;
}

const Op* follow_load(Warp& w, const Op* op, const check::UndefinedBytes& loaded, const Op* next) {
  take_loaded(w, op, loaded);
  return w.tracks_undefined ? next : follow(w, next);
}

}  // namespace inflight::machine
