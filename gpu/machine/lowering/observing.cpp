// Chooses the observing ops of an instruction.
#include "gpu/machine/lowering/observing.hpp"

#include <algorithm>

#include "gpu/machine/instruction/observed_access.hpp"
#include "gpu/machine/instruction/wgmma.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/observe/access_events.hpp"
#include "gpu/machine/run/observe/tensor_memory_events.hpp"
#include "gpu/machine/run/observe/warpgroup_events.hpp"

namespace inflight::machine {
namespace {

Op& emit_reporter(Lowering& lo, Handler handler, std::size_t extra) {
  Op& op = lo.emit(handler);
  op.run = handler;
  op.inner = nullptr;
  op.marks |= Op::reports;
  op.extra = static_cast<std::uint32_t>(extra);
  return op;
}

// Waits for all lanes of the warp.
const Op* meet(Warp& w, const Op* op) {
  if (w.mask != w.alive) return w.park(op, Wait::collective, all_lanes);
  w.block->grid->observation->wait_ended(w, {op, w.frame, w.mask, Wait::collective, all_lanes});
  return op + 1;
}

// Whether this is a store by stmatrix or wmma.store.
bool stores_matrix(const Instruction& in, const MemoryOperand& m) {
  return m.role == MemoryOperand::Role::store && (m.strided || in.as<MatrixUse>());
}

// Whether an op before the instruction reports this access.
bool is_reported_before(const Lowering& lo, const MemoryOperand& m) {
  using Role = MemoryOperand::Role;
  if (m.role == Role::tensor_map || m.role == Role::tensor_map_target) return true;
  if (check_space(m.space) == check::Space::param && !lo.form().parameters) return false;
  return is_observed(m, lo.function) && is_plain(m) && !m.strided;
}

// Whether this is an `st`, whose values are known, to global or shared memory. observe_access
// reports it with its values.
bool is_shared_store(const Instruction& in, const MemoryOperand& m) {
  const check::Space space = check_space(m.space);
  return in.family == Family::store && m.role == MemoryOperand::Role::store &&
         (space == check::Space::global || space == check::Space::shared);
}

// Whether the block may note this access, a load from its shared memory, instead of reporting it.
bool may_be_noted(const Lowering& lo, const MemoryOperand& m) {
  return m.role == MemoryOperand::Role::load && m.order == check::Order::weak &&
         m.proxy == check::Proxy::generic && m.space == ptx::Space::shared &&
         !lo.form().clustered && !m.peeks && !m.may_drop && m.bytes != 0;
}

// The handler that reports a weak access before the instruction.
Handler reporter_of(const Lowering& lo, const MemoryOperand& m) {
  if (stores_matrix(lo.what, m)) return report_matrix_store;
  return !m.strided && may_be_noted(lo, m) ? report_shared_read : report_accessed;
}

// Whether the instruction uses registers that a wgmma in flight may use. Moves and stores to local
// memory do not count: compilers add them and assemblers remove them.
bool touches_held(const Lowering& lo) {
  const bool spill = !lo.what.memory.empty() && lo.what.family == Family::store &&
                     lo.what.memory.front().space == ptx::Space::local;
  if (lo.what.opcode == ptx::Opcode::mov || spill || lo.what.as<WgmmaUse>()) return false;
  const auto held = [&](const RegisterUse& use) { return lo.may_be_held(use.reg); };
  return std::any_of(lo.what.reads.begin(), lo.what.reads.end(), held) ||
         std::any_of(lo.what.writes.begin(), lo.what.writes.end(), held);
}

// Barriers and other collectives report themselves, and so does tensormap.cp_fenceproxy.
void emit_synchronising(Lowering& lo) {
  if (lo.what.as<Fence>() && lo.what.control == Control::next) {
    Op& op = emit_reporter(lo, report_fenced, 0);
    if (!lo.what.memory.empty()) lo.address(lo.operands[lo.what.memory.front().operand], op);
  }
  if (touches_held(lo)) {
    Op& op = emit_reporter(lo, report_touched, 0);
    if (may_spill(lo.what)) lo.address(lo.operands[lo.what.memory.front().operand], op);
  }
  if (lo.what.completes_load != Instruction::no_load)
    emit_reporter(lo, report_load_used, 0).imm = lo.what.completes_load;
  const bool waits_for_no_lane = lo.what.control == Control::next;  // activemask
  if (lo.what.as<CollectiveUse>() && waits_for_no_lane) emit_reporter(lo, report_active, 0);
}

}  // namespace

void emit_observing(Lowering& lo) {
  const CodeForm& form = lo.form();
  // A warp copies a tensor map as a whole. So its lanes' accesses are those of one execution.
  if (form.accessed && lo.what.as<Fence>() && lo.what.control == Control::meet)
    emit_reporter(lo, meet, 0);
  if (form.executed) emit_reporter(lo, report_executed, static_cast<std::size_t>(lo.what.family));
  if (form.synchronised) emit_synchronising(lo);
  if (!form.accessed) return;
  for (std::size_t i = 0; i < lo.what.memory.size(); ++i)
    if (const MemoryOperand& m = lo.what.memory[i];
        is_reported_before(lo, m) && !is_shared_store(lo.what, m))
      lo.address(lo.operands[m.operand], emit_reporter(lo, reporter_of(lo, m), i));
}

void observe_lanes(Lowering& lo, Ref addresses) {
  if (!lo.form().accessed) return;
  Op& op = emit_reporter(lo, reporter_of(lo, lo.what.memory.front()), 0);
  op.a = addresses;
  op.flags |= Op::address_64;
}

void observe_access(Lowering& lo, Op& op, const AccessPlaces& places) {
  const MemoryOperand* const access = observed_access(lo.what, lo.function);
  if (!lo.form().accessed || !access) return;
  const bool store = is_plain(*access) && is_shared_store(lo.what, *access);
  if (is_plain(*access) && !store) return;
  if (!op.inner) op.inner = op.run;
  op.run = store ? report_store : report_strong;
  Code& code = lo.code();
  code.values_of.resize(code.description->body.size());
  code.values_of[op.instruction] = static_cast<std::uint32_t>(code.values.size());
  AccessValues& values = code.values.emplace_back();
  // Listeners get the values of strong accesses in 64 bits.
  const bool one = places.wrote.size() <= 1 && places.bytes <= sizeof(std::uint64_t);
  if (places.bytes == 0 || !(store || one)) return;
  values.bytes = places.bytes;
  values.count = static_cast<std::uint32_t>(std::max<std::size_t>(1, places.wrote.size()));
  values.wrote = lo.extra(places.wrote);
  values.read = places.read, values.compared = places.compared;
}

bool reports_access(const Instruction& in, const ptx::Function& function, std::span<const Op> ops) {
  const MemoryOperand* const access = observed_access(in, function);
  if (!access) return true;
  const auto has = [&](Handler reporter) {
    return std::ranges::any_of(ops, [&](const Op& op) { return op.run == reporter; });
  };
  if (!is_plain(*access)) return has(report_strong);
  if (stores_matrix(in, *access)) return has(report_matrix_store);
  if (access->strided) return has(report_accessed);
  return !is_shared_store(in, *access) || has(report_store);
}

}  // namespace inflight::machine
