// Chooses the tests of complete mbarrier phases that fail.
#include "gpu/machine/run/spurious_failures.hpp"

#include <algorithm>
#include <atomic>

#include "gpu/machine/code/code.hpp"
#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {
namespace {

// A thread whose test has failed so often in a row is taken to repeat it until it succeeds.
constexpr std::uint32_t most = 4096;
// So many failures in a process cost about a second.
constexpr std::uint32_t most_of_all = 1u << 20;
// A warp has given up a phase after so many tests of others.
constexpr std::uint32_t tests_of_others = 8;

std::atomic<std::uint32_t> failed_of_all{0};

// Tests of the first phase and of about every other one fail, in no rhythm that stages of a ring
// have.
bool is_chosen(std::uint32_t phase) { return phase == 0 || (phase * 0x9e3779b9u) >> 31 != 0; }

}  // namespace

SpuriousFailures::OfWarp& SpuriousFailures::of(const Warp& w) {
  const std::size_t at = w.block->rank * w.block->warps.size() + w.index;
  if (warps_.size() <= at) warps_.resize(at + 1);
  return warps_[at];
}

void SpuriousFailures::copy_counted(std::uint32_t rank, std::uint32_t mbarrier,
                                    std::uint32_t parity) {
  for (Phase& each : unobserved_)
    if (each.rank == rank && each.mbarrier == mbarrier) {
      each.parity = parity;
      return;
    }
  unobserved_.push_back({rank, mbarrier, parity});
}

void SpuriousFailures::observed(const Warp& w, std::uint32_t mbarrier, std::uint32_t parity) {
  const Phase phase{w.block->rank, mbarrier, parity};
  std::erase(unobserved_, phase);
  if (warps_.empty()) return;
  if (OfWarp& warp = of(w); warp.failing == phase) warp.failed = 0;
}

void SpuriousFailures::forget(std::uint32_t rank, std::uint32_t mbarrier) {
  std::erase_if(unobserved_,
                [&](const Phase& each) { return each.rank == rank && each.mbarrier == mbarrier; });
}

bool SpuriousFailures::fails(const Warp& w, const Instruction& instruction, std::uint32_t mbarrier,
                             std::uint32_t parity) {
  const Phase phase{w.block->rank, mbarrier, parity};
  if (std::ranges::find(unobserved_, phase) == unobserved_.end()) return false;
  RepeatedTests& repeated = w.frame->code->repeated_tests;
  OfWarp& warp = of(w);
  ++warp.tests;
  if (warp.failed != 0 && warp.failing == phase) {
    warp.last_at = warp.tests;
    if (warp.failed++ < most && failed_of_all.fetch_add(1, std::memory_order_relaxed) < most_of_all)
      return true;
    if (warp.failed > most) repeated.add(instruction);
    warp.failed = 0;
    warp.exempt = phase;
    return false;
  }
  // Of one phase at a time, so that a thread may observe one and not another.
  if (warp.failed != 0 && warp.tests - warp.last_at <= tests_of_others) return false;
  warp.failed = 0;
  if (warp.phases != 0 && warp.exempt == phase) return false;
  if (!is_chosen(warp.phases++) || repeated.has(instruction) ||
      failed_of_all.load(std::memory_order_relaxed) >= most_of_all) {
    warp.exempt = phase;
    return false;
  }
  warp.failing = phase;
  warp.failed = 1;
  warp.last_at = warp.tests;
  return true;
}

}  // namespace inflight::machine
