// Compares where threads of a block wait with the barrier at which others of it wait.
#include "gpu/check/detect/waiting/left_behind.hpp"

#include <bit>
#include <map>
#include <set>
#include <utility>

namespace inflight::check {
namespace {

bool at_block_barrier(const Stuck::Threads& each) {
  return !each.polls && each.wait.what == Wait::For::barrier && each.wait.kind == BarrierKind::cta;
}

std::uint32_t threads_in(const Stuck::Threads& each) {
  return static_cast<std::uint32_t>(std::popcount(each.wait.who.mask));
}

// Whether no path leads threads back to a barrier. Remembers the answers.
class Left {
 public:
  bool operator()(const Kernel& kernel, std::uint32_t barrier, std::uint32_t instruction) {
    const auto [at, fresh] = answers_.try_emplace({barrier, instruction}, false);
    if (fresh && kernel.has_left) at->second = kernel.has_left(kernel, barrier, instruction);
    return at->second;
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> answers_;
};

// Of one block's threads, those at the barrier of `at` and those that have left it.
LeftBehind left_behind(std::span<const Stuck::Threads* const> block, const Wait& at,
                       const ClusterState& state, Left& has_left) {
  const BlockBarriers& barriers = state.barriers[cluster_place(*state.kernel, at.who.block).rank];
  const std::uint32_t expected = barriers.phase(at.id).expected;
  const bool of_all = expected == 0 || expected == state.block_threads;
  LeftBehind found{at, 0, {}, 0, {}};
  for (const Stuck::Threads* const each : block) {
    const Who& who = each->wait.who;
    if (at_block_barrier(*each)) {
      if (who.instruction == at.who.instruction) found.waiting += threads_in(*each);
      continue;
    }
    if (!has_left(*state.kernel, at.who.instruction, who.instruction)) continue;
    const BarrierArrival* const last = barriers.last_of(at.id, state.warp(who), who.mask);
    if (!last && !of_all) continue;
    if (found.missing == 0) {
      found.gone = who;
      if (last) found.last = last->who;
    }
    if (who.instruction == found.gone.instruction) found.missing += threads_in(*each);
  }
  return found;
}

}  // namespace

std::optional<LeftBehind> find_left_behind(std::span<const Stuck::Threads> threads,
                                           const Polling::StateOf& state_of) {
  std::map<std::uint64_t, std::vector<const Stuck::Threads*>> blocks;
  for (const Stuck::Threads& each : threads) blocks[each.wait.who.block].push_back(&each);
  Left has_left;
  for (const auto& [number, block] : blocks) {
    const ClusterState* const state = state_of(number);
    if (!state) continue;
    std::set<std::uint32_t> seen;  // barrier instructions
    for (const Stuck::Threads* const each : block) {
      if (!at_block_barrier(*each) || !seen.insert(each->wait.who.instruction).second) continue;
      const LeftBehind found = left_behind(block, each->wait, *state, has_left);
      if (found.missing != 0) return found;
    }
  }
  return std::nullopt;
}

}  // namespace inflight::check
