// clusterlaunchcontrol.*: a block takes the place of a cluster that has not been launched (PTX ISA,
// "Parallel Synchronization and Communication Instructions: clusterlaunchcontrol").
//
// The answer is opaque in PTX. Here it is the indices of the cluster's first block and a fourth
// word: 1 if the cluster was cancelled.
#include <cstring>

#include "gpu/machine/families/bulk_request.hpp"
#include "gpu/machine/families/families.hpp"
#include "gpu/machine/families/modifiers.hpp"
#include "gpu/machine/run/warpgroup.hpp"

namespace inflight::machine {
namespace {

using async::BulkCopy;
using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using Name = BulkOperands::Name;

constexpr std::uint32_t answer_bytes = 16, answer_words = 4, tag = 3;

// Calls f(rank) for each block that gets the answer, until one call returns false.
template <class F>
bool each_receiver(const BulkRequest& r, F f) {
  if (!r.form.multicast) return f(r.w.block->rank);
  for (const auto& block : r.w.block->cluster->blocks)
    if (!f(block->rank)) return false;
  return true;
}

// Sets the destination and the mbarrier in the block of rank `rank`.
bool aim(BulkRequest& r, std::uint32_t rank) {
  const std::uint32_t offset = r.narrow(Name::to) & offset_mask;
  r.copy.to = r.shared(rank << rank_shift | offset, answer_bytes, true, false);
  if (!r.copy.to || !r.completes(rank, answer_bytes)) return false;
  r.copy.named_rank = rank;  // an answer for all blocks completes on each one's mbarrier
  return true;
}

const Op* run_try_cancel(Warp& w, const Op* op) {
  if (w.block->saw_no_cluster >> w.index & 1)
    report_misuse(w, op,
                  "the warp asks for another cluster although it has seen that none is left "
                  "(clusterlaunchcontrol.query_cancel::is_canceled was false)");
  return each_request(w, op, [](BulkRequest& r) {
    if (!r.aligned(r.narrow(Name::to), answer_bytes, Space::shared, "destination")) return;
    if (!each_receiver(r, [&](std::uint32_t rank) { return aim(r, rank); })) return;
    std::uint32_t answer[answer_words] = {};
    const Grid& grid = *r.w.block->grid;
    if (const auto cancelled = grid.cancel()) {
      const Dim3 first = first_block(*grid.launch, *cancelled);
      answer[0] = first.x, answer[1] = first.y, answer[2] = first.z;
      answer[tag] = 1;
    }
    std::memcpy(r.copy.value.data(), answer, sizeof answer);
    r.copy.kind = BulkCopy::Kind::value;
    r.copy.answers = true;
    r.copy.bytes = answer_bytes;
    each_receiver(r, [&](std::uint32_t rank) {
      if (!aim(r, rank)) return false;
      r.issue();
      return true;
    });
  });
}

using Answer = std::uint32_t[answer_words];

const Op* run_is_canceled(Warp& w, const Op* op) {
  const auto* const answers = w.at<Answer>(op->a);
  std::uint32_t canceled = 0;
  each_lane(w.mask, [&](int l) { canceled |= (answers[l][tag] & 1) << l; });
  w.set_predicate(op->d, canceled);
  if (w.mask & ~canceled) w.block->saw_no_cluster |= 1u << w.index;
  return op + 1;
}

// Op::detail is the first of Op::count words. Their registers are in Op::extra.
const Op* run_first_block(Warp& w, const Op* op) {
  const auto* const answers = w.at<Answer>(op->a);
  const Ref* const to = w.frame->code->extra.data() + op->extra;
  for (std::uint32_t i = 0; i < op->count; ++i) {
    auto* const d = w.at<std::uint32_t>(to[i]);
    each_lane(w.mask, [&](int l) { d[l] = answers[l][op->detail + i]; });
  }
  return op + 1;
}

// --- decoding ---

bool lower_try_cancel(Lowering& lo, const Row&) {
  const ModSet known{Mod::async, Mod::mbarrier_complete_tx_bytes, Mod::multicast_cluster_all};
  if (!only(lo, known) || !lo.on_target(100, "clusterlaunchcontrol")) return false;
  if (lo.in.space_count != 1) return lo.refuse("it is supported with .shared::cta only");
  if (lo.operands.size() != 2)
    return lo.refuse("it takes the address of the answer and an mbarrier");
  std::array<Ref, BulkOperands::count> refs;
  refs.fill(no_ref);
  refs[Name::to] = lo.address_lanes(lo.operands[0], Space::shared);
  refs[Name::mbarrier] = lo.address_lanes(lo.operands[1], Space::shared);
  if (refs[Name::to] == no_ref || refs[Name::mbarrier] == no_ref) return false;
  const std::uint32_t extra = lo.extra(refs);
  lo.emit(run_try_cancel).extra = extra;
  return true;
}

bool lower_is_canceled(Lowering& lo) {
  const Ref a = lo.source(lo.operands[1], Type::b128);
  const Ref d = lo.predicate_destination(lo.operands[0]);
  if (a == no_ref || d == no_ref) return false;
  Op& op = lo.emit(run_is_canceled);
  op.a = a, op.d = d;
  return true;
}

// One index, or all three as the first elements of a vector of four.
bool lower_first_block(Lowering& lo) {
  constexpr Mod dimensions[] = {Mod::get_first_ctaid_x, Mod::get_first_ctaid_y,
                                Mod::get_first_ctaid_z};
  const ptx::Operand& to = lo.operands[0];
  const bool all = lo.in.mods.has(Mod::get_first_ctaid);
  if (all != (lo.in.vector == 4) || all != (to.kind == ptx::Operand::Kind::vector) ||
      (all && to.count != 4))
    return lo.refuse("it takes a vector of four registers for .v4, else one register");
  const Ref a = lo.source(lo.operands[1], Type::b128);
  if (a == no_ref) return false;
  std::vector<Ref> refs;
  std::uint16_t first = 0;
  if (!all) refs.push_back(lo.destination(to, Type::b32));
  for (std::uint16_t i = 0; i < 3; ++i) {
    if (all) refs.push_back(lo.destination(lo.function.pool[to.index + i], Type::b32));
    if (lo.in.mods.has(dimensions[i])) first = i;
  }
  for (const Ref ref : refs)
    if (ref == no_ref) return false;
  const std::uint32_t extra = lo.extra(refs);
  Op& op = lo.emit(run_first_block);
  op.a = a, op.extra = extra, op.detail = first;
  op.count = static_cast<std::uint32_t>(refs.size());
  return true;
}

bool lower_query(Lowering& lo, const Row&) {
  const ModSet known{Mod::is_canceled, Mod::get_first_ctaid, Mod::get_first_ctaid_x,
                     Mod::get_first_ctaid_y, Mod::get_first_ctaid_z};
  if (!only(lo, known) || !lo.on_target(100, "clusterlaunchcontrol")) return false;
  if (lo.operands.size() != 2) return lo.refuse("it takes a destination and an answer");
  return lo.in.mods.has(Mod::is_canceled) ? lower_is_canceled(lo) : lower_first_block(lo);
}

}  // namespace

void cancel_rows(Rows& rows) {
  add(rows, any_form(Opcode::clusterlaunchcontrol_try_cancel, lower_try_cancel));
  add(rows, any_form(Opcode::clusterlaunchcontrol_query_cancel, lower_query));
}

}  // namespace inflight::machine
