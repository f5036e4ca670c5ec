// What observing ops do: events from the lanes that execute and the addresses they name.
#include "gpu/machine/decode/observing.hpp"

#include "gpu/machine/instruction/observed_access.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/cluster.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {
namespace {

using ptx::Space;

check::Access access_event(const Warp& w, const MemoryOperand& info, std::uint32_t instruction,
                           check::Space space, std::uint32_t mask) {
  check::Access event;
  event.who = w.block->grid->observation->who(w, mask, instruction);
  event.space = space;
  event.kind = access_kind(info.role);
  event.order = info.order;
  event.scope = info.scope;
  event.bytes = info.bytes;
  event.written = event.kind == check::Access::Kind::load ? 0 : mask;
  return event;
}

// Reports the lanes of `mask` in one space.
void report_access(const Warp& w, const MemoryOperand& info, std::uint32_t instruction,
                   check::Space space, std::uint32_t mask, std::uint64_t* addresses) {
  if (!mask) return;
  std::uint16_t ranks[lanes];
  bool elsewhere = false;
  if (space == check::Space::shared && w.block->cluster->blocks.size() > 1) {
    for (int l = 0; l < lanes; ++l) {
      ranks[l] = static_cast<std::uint16_t>(addresses[l] >> rank_shift);
      if (!(mask >> l & 1)) continue;
      elsewhere |= ranks[l] != w.block->rank;
      addresses[l] &= offset_mask;
    }
  }
  check::Access event = access_event(w, info, instruction, space, mask);
  event.addresses = addresses;
  event.ranks = elsewhere ? ranks : nullptr;
  w.block->grid->observation->listener().accessed(event);
}

void report_generic(const Warp& w, const MemoryOperand& info, std::uint32_t instruction,
                    std::uint32_t mask, std::uint64_t (&addresses)[lanes]) {
  const Windows& at = w.block->grid->memory->windows();
  std::uint32_t shared = 0, local = 0, param = 0;
  for (int l = 0; l < lanes; ++l) {
    std::uint64_t& a = addresses[l];
    if (a - at.shared < Windows::shared_size)
      shared |= 1u << l, a -= at.shared;
    else if (a - at.local < Windows::local_size)
      local |= 1u << l, a -= at.local;
    else if (a - at.param < Windows::param_size)
      param |= 1u << l, a -= at.param;
  }
  const std::uint32_t global = ~(shared | local | param);
  report_access(w, info, instruction, check::Space::shared, mask & shared, addresses);
  report_access(w, info, instruction, check::Space::local, mask & local, addresses);
  report_access(w, info, instruction, check::Space::param, mask & param, addresses);
  report_access(w, info, instruction, check::Space::global, mask & global, addresses);
}

// The lanes that an observing op reports: it looks at the guard itself.
std::uint32_t observed_lanes(const Warp& w, const Op* op) {
  if (op->guard == no_ref) return w.mask;
  return w.mask & w.predicate(op->guard, op->flags & Op::guard_negated);
}

const Op* report_executed(Warp& w, const Op* op) {
  const std::uint32_t mask = observed_lanes(w, op);
  if (mask == 0) return op + 1;
  const Observation& observation = *w.block->grid->observation;
  if (observation.wants(check::Topic::instructions))
    observation.listener().executed(
        {observation.who(w, mask, w.frame->code->first_number + op->instruction), op->extra});
  return op + 1;
}

// Op::extra: which memory operand; Op::a and Op::imm are its address.
const Op* report_accessed(Warp& w, const Op* op) {
  const Code& code = *w.frame->code;
  const MemoryOperand& info = op->what->memory[op->extra];
  const std::uint32_t mask = observed_lanes(w, op) & info.lanes;
  if (mask == 0) return op + 1;
  const std::uint32_t instruction = code.first_number + op->instruction;
  const Observation& observation = *w.block->grid->observation;
  const check::Space space = check_space(info.space);
  const bool generic = info.space == Space::generic;
  if (!observation.wants(check::Topic::addresses) && !generic) {
    observation.listener().accessed(access_event(w, info, instruction, space, mask));
    return op + 1;
  }
  std::uint64_t addresses[lanes];
  lane_addresses(w, op, info.space, addresses);
  if (space == check::Space::local && info.address.base == Address::Base::variable)
    for (std::uint64_t& a : addresses) a += w.frame->local_base;
  if (generic) {
    report_generic(w, info, instruction, mask, addresses);
  } else {
    report_access(w, info, instruction, space, mask, addresses);
  }
  return op + 1;
}

Op& emit_reporter(Lowering& lo, Handler handler, std::size_t extra) {
  Op& op = lo.emit(handler);
  op.run = handler;
  op.inner = nullptr;
  op.extra = static_cast<std::uint32_t>(extra);
  return op;
}

}  // namespace

void emit_observing(Lowering& lo) {
  emit_reporter(lo, report_executed, static_cast<std::size_t>(lo.what.family));
  const MemoryOperand* const access = observed_access(lo.what, lo.function);
  if (!access) return;
  const auto index = static_cast<std::size_t>(access - lo.what.memory.data());
  lo.address(lo.operands[access->operand], emit_reporter(lo, report_accessed, index));
}

}  // namespace inflight::machine
