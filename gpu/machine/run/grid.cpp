// State that the blocks of a launch share: its outcome and the advice given.
#include "gpu/machine/run/block.hpp"

namespace inflight::machine {

void Grid::fail(Outcome outcome) {
  std::lock_guard lock(mutex_);
  if (outcome_.ok()) outcome_ = std::move(outcome);
  stop = true;
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
