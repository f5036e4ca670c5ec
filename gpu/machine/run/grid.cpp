// State that the blocks of a launch share: its outcome and the advice given.
#include <algorithm>

#include "gpu/machine/run/block.hpp"

namespace inflight::machine {
namespace {

// Cycles of the device's clock that a launch takes besides its blocks.
constexpr std::uint64_t launch_cycles = 2000;

}  // namespace

std::uint64_t Grid::end() const { return latest.load() + launch_cycles; }

void Grid::begin_at_clock() {
  if (launch->clock) begin = launch->clock->load();
  latest = begin;
}

void Grid::begin_behind(const Grid& front) {
  begin_at_clock();
  begin = std::max(begin, front.end());
  latest = begin;
}

void Grid::set_clock() const {
  if (!launch->clock) return;
  std::uint64_t now = launch->clock->load();
  while (now < end() && !launch->clock->compare_exchange_weak(now, end())) {
  }
}

void Grid::fail(Outcome outcome) {
  std::lock_guard lock(mutex_);
  if (outcome_.ok()) outcome_ = std::move(outcome);
  stop = true;
}

void Grid::warm(std::uint64_t ops) {
  if (heat->asked.load(std::memory_order_relaxed)) return;
  if (heat->ops.fetch_add(ops, std::memory_order_relaxed) + ops < hot_at) return;
  if (!heat->asked.exchange(true)) hot();
}

void Grid::launch_dependents(bool by_instruction) {
  if (by_instruction && !requested.exchange(true)) dependents->requested();
  if (--holding_dependents == 0 && requested) dependents->may_begin();
}

void Grid::begun(std::uint64_t blocks) {
  if (yet_to_begin.fetch_sub(blocks) == blocks) launch->dependents->all_begun();
}

bool Grid::first_time(std::uint64_t instruction, unsigned what) {
  std::lock_guard lock(mutex_);
  return advised_.emplace(instruction, what).second;
}

Outcome Grid::outcome() const {
  std::lock_guard lock(mutex_);
  return outcome_;
}

}  // namespace inflight::machine
