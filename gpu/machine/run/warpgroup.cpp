// Warpgroups of a block.
#include "gpu/machine/run/warpgroup.hpp"

#include <fmt/format.h>

#include "gpu/machine/run/in_flight.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {

Warpgroup::Warpgroup(Block& of, std::uint32_t first)
    : model(in_flight(*of.cluster).ledger.of_warpgroup(of.rank, first / async::warps_of_group)),
      block(of),
      first_warp(first) {}

void Warpgroup::wake() {
  for (std::uint32_t i = 0; i < async::warps_of_group; ++i)
    block.warps[first_warp + i]->wake(Wait::warpgroup, Warp::any_detail);
}

Warpgroup* warpgroup_of(Warp& w) {
  Block& block = *w.block;
  const std::uint32_t index = w.index / async::warps_of_group;
  const std::uint32_t first = index * async::warps_of_group;
  if (first + async::warps_of_group > block.warps.size()) return nullptr;
  if (block.warpgroups.size() <= index) block.warpgroups.resize(index + 1);
  auto& group = block.warpgroups[index];
  if (!group) group = std::make_unique<Warpgroup>(block, first);
  return group.get();
}

void report_met(Warp& w, const Op* op) {
  const Observation* const observation = w.block->grid->observation;
  if (!observation) return;
  const Warpgroup* const group = warpgroup_of(w);
  if (group && (group->waits >> rank_in_group(w) & 1)) return;  // they met before that wait
  observation->wait_ended(w, {op, w.frame, w.mask, Wait::collective});
}

const Op* wait_for_warpgroup(Warp& w, const Op* op, Warpgroup& group, std::uint64_t detail) {
  group.waits |= static_cast<std::uint8_t>(1u << rank_in_group(w));
  return w.park(op, Wait::warpgroup, detail);
}

void report_warpgroup_ready(Warp& w, const Op* op, Warpgroup& group) {
  group.waits &= static_cast<std::uint8_t>(~(1u << rank_in_group(w)));
  if (const Observation* const observation = w.block->grid->observation)
    observation->wait_ended(w, {op, w.frame, w.mask, Wait::warpgroup});
}

bool move_in_flight(Warp& w, const async::Multiplies::Move& move) {
  const auto& groups = w.block->warpgroups;
  const std::uint32_t index = w.index / async::warps_of_group;
  return index < groups.size() && groups[index] &&
         groups[index]->model.move(rank_in_group(w), move);
}

void start_warpgroups(Block& block) {
  for (auto& group : block.warpgroups)
    if (group) group->held = {}, group->registers = {}, group->waits = 0;
}

std::uint32_t registers_left(const Block& block, std::uint32_t entry) {
  std::uint32_t left = 0, taken = 0;
  for (const auto& warp : block.warps) {
    left += entry;
    const std::size_t index = warp->index / async::warps_of_group;
    const Warpgroup* const group =
        index < block.warpgroups.size() ? block.warpgroups[index].get() : nullptr;
    const std::uint32_t held = group ? group->registers.held[rank_in_group(*warp)] : 0;
    taken += held ? held : entry;
  }
  return left - taken;
}

void wake_warpgroups(Block& block) {
  for (auto& group : block.warpgroups)
    if (group) group->wake();
}

std::string ended_without_setmaxnreg(std::uint32_t warp) {
  return fmt::format(
      "the four warps of a warpgroup must execute the same setmaxnreg; warp {} of this warpgroup "
      "has ended without it",
      warp);
}

void report_misuse(Warp& w, const Op* op, std::string_view why) {
  const Observation* const observation = w.block->grid->observation;
  if (why.empty() || !observation) return;
  FaultDetail about;
  about.ends = false;
  observation->faulted(w, op, FaultKind::illegal_instruction, w.mask ? w.mask : all_lanes, why,
                       about);
}

void check_ended(Warp& w) {
  const std::size_t index = w.index / async::warps_of_group;
  const auto& groups = w.block->warpgroups;
  if (w.alive != 0 || index >= groups.size() || !groups[index] || w.frame->parent) return;
  const RegisterCounts& counts = groups[index]->registers;
  const std::uint32_t executed = counts.executed[rank_in_group(w)];
  if (executed >= counts.order.size()) return;
  for (std::uint32_t i = 0; i < async::warps_of_group; ++i)
    if (Warp& by = *w.block->warps[groups[index]->first_warp + i];
        counts.executed[i] > executed && by.frame && !by.frame->parent)
      return report_misuse(by, counts.order[executed], ended_without_setmaxnreg(w.index));
}

}  // namespace inflight::machine
