// Counting ops, with slots for runs of instructions and for the spaces of accesses.
#include "gpu/machine/decode/counting.hpp"

#include <iterator>

#include "gpu/machine/instruction/observed_access.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/counts.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/ptx/module.hpp"

namespace inflight::machine {
namespace {

Count& slot(const Warp& w, const Op* op) { return w.frame->counts[op->extra]; }

std::uint32_t guarded_lanes(const Warp& w, const Op* op) {
  if (op->guard == no_ref) return w.mask;
  return w.mask & w.predicate(op->guard, op->flags & Op::guard_negated);
}

const Op* count_run(Warp& w, const Op* op) {
  Count& count = slot(w, op);
  count.add(w.mask);
  count.in_host_code += w.in_host_code;
  w.counted_lanes = w.mask;
  return op + 1;
}

// Op::d: the mask of the lanes that can take part.
const Op* count_lanes(Warp& w, const Op* op) {
  const std::uint32_t mask = guarded_lanes(w, op) & op->d;
  if (mask == 0) return op + 1;
  Count& count = slot(w, op);
  count.add(mask);
  count.in_host_code += w.in_host_code;
  return op + 1;
}

// The spaces of generic addresses, one slot each: those with a window, then global.
constexpr check::Space generic_spaces[] = {check::Space::shared, check::Space::local,
                                           check::Space::param, check::Space::global};

static_assert(Windows::shared_size == 1ull << 32 && Windows::local_size == 1ull << 32);

unsigned space_index(const Windows& at, std::uint64_t address) {
  if (address - at.shared < Windows::shared_size) return 0;
  if (address - at.local < Windows::local_size) return 1;
  return address - at.param < Windows::param_size ? 2 : 3;
}

bool have_high_word(const std::uint64_t (&addresses)[lanes], std::uint64_t like) {
  std::uint64_t differ = 0;
  for (int l = 0; l < lanes; ++l) differ |= addresses[l] ^ like;
  return differ >> 32 == 0;
}

const Op* count_generic(Warp& w, const Op* op) {
  const std::uint32_t mask = guarded_lanes(w, op) & op->d;
  if (mask == 0) return op + 1;
  std::uint64_t addresses[lanes];
  lane_addresses(w, op, ptx::Space::generic, addresses);
  const Windows& at = w.block->grid->memory->windows();
  Count* const counts = &slot(w, op);
  // Windows begin at multiples of 2^32. So addresses with equal high words are in one space, except
  // near the parameter window, which is shorter.
  const std::uint64_t first = addresses[std::countr_zero(mask)];
  if (mask == all_lanes && (first ^ at.param) >> 32 != 0 && have_high_word(addresses, first)) {
    counts[space_index(at, first)].add(mask);
    return op + 1;
  }
  std::uint32_t in[std::size(generic_spaces)] = {};
  each_lane(mask, [&](int l) { in[space_index(at, addresses[l])] |= 1u << l; });
  for (unsigned i = 0; i < std::size(generic_spaces); ++i)
    if (in[i] != 0) counts[i].add(in[i]);
  return op + 1;
}

std::uint32_t add_slots(Code& code, std::uint32_t count) {
  code.count_slots += count;
  return code.count_slots - count;
}

Op& emit_counter(Lowering& lo, Handler handler, std::uint32_t slot) {
  Op& op = lo.emit(handler);
  op.run = handler;
  op.inner = nullptr;
  op.extra = slot;
  return op;
}

}  // namespace

// `own_slot` counts the instruction's lanes if it has a guard; else it is none.
void CountingOps::emit_access(Lowering& lo, std::uint32_t instruction, std::uint32_t own_slot) {
  const MemoryOperand* const access = observed_access(lo.what, lo.function);
  if (!access) return;
  Code& code = lo.code();
  const check::Access::Kind kind = access_kind(access->role);
  const auto add = [&](std::uint32_t slot, check::Space space, std::uint32_t since) {
    code.counted_accesses.push_back({slot, instruction, since, space, kind, access->bytes});
  };
  const bool generic = access->space == ptx::Space::generic;
  const check::Space space = check_space(access->space);
  if (!generic && access->lanes == all_lanes) {
    if (own_slot != none) return add(own_slot, space, instruction);
    if (access_slot_ == none) {
      access_slot_ = add_slots(code, 1);
      access_since_ = instruction;
      emit_counter(lo, count_run, access_slot_);
    }
    return add(access_slot_, space, access_since_);
  }
  const std::uint32_t first = add_slots(code, generic ? std::size(generic_spaces) : 1);
  Op& op = emit_counter(lo, generic ? count_generic : count_lanes, first);
  op.d = access->lanes;
  if (!generic) return add(first, space, instruction);
  lo.address(lo.operands[access->operand], op);
  for (std::uint32_t i = 0; i < std::size(generic_spaces); ++i)
    add(first + i, generic_spaces[i], instruction);
}

void CountingOps::emit(Lowering& lo, std::uint32_t index, bool own_lanes) {
  Code& code = lo.code();
  const std::uint32_t instruction = code.first_number + index;
  const bool diverts = lo.what.diverts();
  std::uint32_t run = run_;
  if (own_lanes || run == none) {
    const std::uint32_t slot = add_slots(code, 1);
    run = static_cast<std::uint32_t>(code.counted_runs.size());
    code.counted_runs.push_back({slot, {}, {}});
    emit_counter(lo, own_lanes ? count_lanes : count_run, slot);
    if (!own_lanes) run_ = run, access_slot_ = slot, access_since_ = instruction;
  }
  code.counted_runs[run].instructions.push_back(instruction);
  code.counted_runs[run].families.push_back(static_cast<std::uint32_t>(lo.what.family));
  emit_access(lo, instruction, own_lanes ? code.counted_runs[run].slot : none);
  if (diverts) meet();
  const Control control = lo.what.control;
  const bool ends = control == Control::call || control == Control::exit || control == Control::ret;
  if (ends || (own_lanes && diverts)) run_ = none;
}

}  // namespace inflight::machine
