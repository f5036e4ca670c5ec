// wgmma: multiplications that a warpgroup issues and waits for (PTX ISA, "Asynchronous Warpgroup
// Level Matrix Instructions").
//
// Descriptors and scale-d are read at the issue. gpu/async/multiplies determines when the
// multiplication happens and which data it reads.
#include "gpu/machine/families/wgmma.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/families/wgmma_events.hpp"
#include "gpu/machine/families/wgmma_operands.hpp"
#include "gpu/machine/run/access.hpp"
#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/observation.hpp"
#include "gpu/machine/run/observe/warpgroup_events.hpp"

namespace inflight::machine {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

// --- Op of wgmma.mma_async: a, b: descriptors of matrices in shared memory; c: scale-d; extra:
// `detail` accumulators, then `count` other registers that it reads ---

std::span<const Ref> registers_of(const Warp& w, const Op* op, std::size_t first,
                                  std::size_t count) {
  return {w.frame->code->extra.data() + op->extra + first, count};
}

const Op* refuse(Warp& w, const Op* op, std::string why) {
  return w.fault(op, FaultKind::illegal_instruction, w.mask, std::move(why));
}

// Sets `value` to the operand's value. False if it is not the same in all lanes.
bool same_in_all(const Warp& w, Ref ref, std::uint64_t& value) {
  if (ref == no_ref) return true;
  const auto* const values = w.at<std::uint64_t>(ref);
  value = values[0];
  return std::all_of(values, values + lanes, [&](std::uint64_t v) { return v == value; });
}

const Op* outside(Warp& w, const Op* op, char which, const SharedOperand& o) {
  FaultDetail about;
  about.access = true;
  about.space = ptx::Space::shared;
  about.address = o.descriptor.start;
  about.bytes = o.end() - o.descriptor.start;
  return w.fault(op, FaultKind::illegal_address, w.mask,
                 fmt::format("matrix {} covers shared memory from offset 0x{:x} to 0x{:x}, by its "
                             "descriptor, but the block's ends at 0x{:x}",
                             which, o.descriptor.start, o.end(), w.block->shared_end),
                 about);
}

const Op* run_multiply(Warp& w, const Op* op) {
  if (w.mask != w.alive) return w.park(op, Wait::collective, all_lanes);
  report_met(w, op);
  Warpgroup* const group = warpgroup_of(w);
  if (!group || w.alive != all_lanes)
    return refuse(w, op,
                  "a warpgroup is four whole warps, the first of which has a rank in the block "
                  "that is a multiple of 4; here threads are missing");
  const auto& use = use_of<WgmmaUse>(op);
  async::MultiplyIssue issue;
  issue.tag = w.number(op);
  issue.what = op, issue.context = w.block;
  issue.multiply = multiply_warpgroup;
  const std::uint32_t accumulating = w.predicate(op->c, op->flags & Op::negate_c);
  if (!same_in_all(w, op->a, issue.a) || !same_in_all(w, op->b, issue.b) ||
      (accumulating != 0 && accumulating != all_lanes))
    return refuse(w, op, "the lanes of the warp give different descriptors or scale-d");
  issue.accumulates = accumulating != 0;
  issue.shape =
      static_cast<std::uint32_t>(use.product.n) << 8 | static_cast<std::uint32_t>(use.product.d);
  issue.registers = reinterpret_cast<std::byte*>(w.base[0]);
  issue.accumulators = registers_of(w, op, 0, op->detail);
  issue.fragments = registers_of(w, op, op->detail, op->count);
  const std::uint32_t rank = rank_in_group(w);
  if (const async::Multiplication* const next = group->model.next(rank);
      next && next->issue.what != op)
    return refuse(w, op,
                  "the warps of a warpgroup must execute the same wgmma.mma_async; another warp of "
                  "this warpgroup has executed a different one");
  if (const SharedOperand a = operand_a(use, issue.a);
      !use.a_in_registers && a.end() > w.block->shared_end)
    return outside(w, op, 'A', a);
  if (const SharedOperand b = operand_b(use, issue.b); b.end() > w.block->shared_end)
    return outside(w, op, 'B', b);
  if (observes_multiplies(w)) [[unlikely]]
    report_multiply(w, op, group->model.issued(rank), issue);
  group->model.issue(rank, issue);
  group->wake();
  w.progressed = true;
  return w.spend(op + 1, static_cast<std::uint64_t>(use.product.n) / 2);  // about a chip's cycles
}

// Calls act(model, rank) once the warp's lanes are together and ready(model, rank) holds: the
// warpgroup has issued the multiplications that the warp waits for.
template <class Ready, class Do>
const Op* run_wait(Warp& w, const Op* op, Ready ready, Do act) {
  if (w.mask != w.alive) return w.park(op, Wait::collective, all_lanes);
  report_met(w, op);
  Warpgroup* const group = warpgroup_of(w);
  if (!group) return op + 1;
  async::Multiplies& model = group->model;
  const std::uint32_t rank = rank_in_group(w);
  if (!ready(model, rank)) return wait_for_warpgroup(w, op, *group, model.missing(rank));
  report_warpgroup_ready(w, op, *group);
  act(model, rank);
  w.progressed = true;
  return op + 1;
}

const Op* run_wait_group(Warp& w, const Op* op) {
  const std::uint32_t allowed = use_of<WgmmaGroupUse>(op).allowed;
  return run_wait(
      w, op, [&](const auto& model, std::uint32_t rank) { return model.can_wait(rank, allowed); },
      [&](auto& model, std::uint32_t rank) {
        model.wait_group(rank, allowed);
        if (observes_multiplies(w)) report_multiply_wait(w, op, allowed, model.due(rank, allowed));
      });
}
// In functions other than kernels, the assembler inserts a wait after each multiplication.
const Op* run_finish(Warp& w, const Op* op) {
  return run_wait(
      w, op, [](const auto& model, std::uint32_t rank) { return model.can_finish(rank); },
      [&](auto& model, std::uint32_t rank) {
        model.finish(rank);
        if (observes_multiplies(w)) report_multiply_wait(w, op, 0, model.issued(rank));
      });
}
const Op* run_commit(Warp& w, const Op* op) {
  return run_wait(
      w, op, [](const auto&, std::uint32_t) { return true; },
      [&](auto& model, std::uint32_t rank) {
        model.commit(rank);
        if (observes_multiplies(w)) report_multiply_commit(w, op);
      });
}
const Op* run_fence(Warp& w, const Op* op) {
  if (w.mask != w.alive) return w.park(op, Wait::collective, all_lanes);
  report_met(w, op);
  if (observes_multiplies(w)) report_multiply_fence(w);
  return op + 1;
}

// A mov. Op::detail: whether Op::a is a register.
const Op* run_move(Warp& w, const Op* op) {
  auto* const value = w.at<async::RegisterLanes>(op->a);
  if (observes_multiplies(w)) [[unlikely]]
    report_moved(w, op->d);
  const async::Multiplies::Move move{w.mask, reinterpret_cast<std::byte*>(w.base[0]), op->d,
                                     op->detail ? &op->a : nullptr, op->detail ? nullptr : value};
  if (move_in_flight(w, move)) return op + 1;
  auto& to = *w.at<async::RegisterLanes>(op->d);
  each_lane(w.mask, [&](int l) { to[l] = (*value)[l]; });
  return op + 1;
}

// --- decoding ---

// Appends the slots of 32-bit registers. Refuses and returns false if one is not a 32-bit register.
bool add_registers(Lowering& lo, const Operand& list, std::vector<Ref>& to) {
  const Operand* const first =
      list.kind == Operand::Kind::vector ? lo.function.pool.data() + list.index : &list;
  const std::size_t count = list.kind == Operand::Kind::vector ? list.count : 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (first[i].kind != Operand::Kind::reg || ptx::size_of(lo.register_type(first[i])) != 4) {
      lo.refuse("its matrices must be in 32-bit registers");
      return false;
    }
    to.push_back(lo.source(first[i], Type::b32));
  }
  return true;
}

bool lower_multiply(Lowering& lo, const Row&) {
  const auto& use = *lo.what.as<WgmmaUse>();
  std::vector<Ref> registers;
  if (!add_registers(lo, lo.operands[0], registers)) return true;
  const std::size_t accumulators = registers.size();
  if (use.a_in_registers && !add_registers(lo, lo.operands[1], registers)) return true;
  if (use.product.sparse && !add_registers(lo, lo.operands[use.metadata_operand], registers))
    return true;
  Op made;
  if (!use.a_in_registers) made.a = lo.source(lo.operands[1], Type::b64);
  made.b = lo.source(lo.operands[2], Type::b64);
  made.c = lo.predicate(lo.operands[use.scale_operand], made.flags, Op::negate_c);
  const std::uint32_t extra = lo.extra(registers);
  Op& op = lo.emit(run_multiply);
  op.a = made.a, op.b = made.b, op.c = made.c;
  op.flags |= made.flags;
  op.extra = extra;
  op.detail = static_cast<std::uint16_t>(accumulators);
  op.count = static_cast<std::uint8_t>(registers.size() - accumulators);
  if (!lo.function.entry) lo.emit(run_finish);
  return true;
}

bool lower_group(Lowering& lo, const Row&) {
  constexpr ptx::ModSet known{Mod::sync, Mod::aligned};
  if (!only(lo, known)) return false;
  const auto& use = *lo.what.as<WgmmaGroupUse>();
  using Step = WgmmaGroupUse::Step;
  if (use.step == Step::wait && (lo.operands.size() != 1 || !lo.is_constant(lo.operands[0])))
    return lo.refuse("wgmma.wait_group takes a constant");
  lo.emit(use.step == Step::fence    ? run_fence
          : use.step == Step::commit ? run_commit
                                     : run_wait_group);
  return true;
}

}  // namespace

bool lower_following_move(Lowering& lo) {
  const Ref a = lo.source(lo.operands[1], Type::b32);
  const Ref d = lo.destination(lo.operands[0], Type::b32);
  if (a == no_ref || d == no_ref) return false;
  Op& op = lo.emit(run_move);
  op.a = a, op.d = d;
  op.detail = lo.operands[1].kind == Operand::Kind::reg;
  return true;
}

const Op* run_settle(Warp& w, const Op* op) {
  Warpgroup* const group = warpgroup_of(w);
  if (!group || group->model.idle()) return op + 1;
  const std::uint32_t rank = rank_in_group(w);
  const auto& slots = w.frame->code->slots;
  const bool pending = std::any_of(
      op->what->reads.begin(), op->what->reads.end(),
      [&](const RegisterUse& use) { return group->model.writer(rank, slots[use.reg]) != nullptr; });
  if (!pending) return op + 1;
  if (!group->model.can_finish(rank))
    return wait_for_warpgroup(w, op, *group, group->model.missing(rank));
  report_warpgroup_ready(w, op, *group);
  group->model.finish(rank);
  return op + 1;
}

const Op* run_settle_local(Warp& w, const Op* op) {
  const Warpgroup* const group = warpgroup_of(w);
  if (!group || group->model.idle() || !stores_to_local(w, op)) return op + 1;
  return run_settle(w, op);
}

void wgmma_rows(Rows& rows) {
  add(rows, any_form(Opcode::wgmma_mma_async, lower_multiply));
  add(rows, any_form(Opcode::wgmma_mma_async_sp, lower_multiply));
  add(rows, any_form(Opcode::wgmma_fence, lower_group));
  add(rows, any_form(Opcode::wgmma_commit_group, lower_group));
  add(rows, any_form(Opcode::wgmma_wait_group, lower_group));
}

}  // namespace inflight::machine
