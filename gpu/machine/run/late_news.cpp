// Decides which completions a warp hears of late.
#include "gpu/machine/run/late_news.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>

#include "gpu/machine/run/block.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {
namespace {

// A thread that has asked so often in a row is taken to ask until it is told.
constexpr std::uint32_t most = 4096;
// What all threads of a process may ask in vain costs about a second.
constexpr std::uint32_t most_of_all = 1u << 20;
// A phase is no longer asked for after so many tests of others.
constexpr std::uint32_t turned_away = 8;

std::atomic<std::uint32_t> failed_of_all{0};

// Instructions at which threads ask until they are told.
class Patient {
 public:
  void add(const Instruction& instruction) {
    const std::lock_guard lock(mutex_);
    all_.insert(&instruction);
  }
  bool has(const Instruction& instruction) {
    const std::lock_guard lock(mutex_);
    return all_.contains(&instruction);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<const Instruction*> all_;
};

Patient& patient() {
  static Patient all;
  return all;
}

// The first phase and about every other one are late, in no rhythm that stages of a ring have.
bool is_late(std::uint32_t phase) { return phase == 0 || (phase * 0x9e3779b9u) >> 31 != 0; }

}  // namespace

LateNews::Listener& LateNews::listener(const Warp& w) {
  const std::size_t at = w.block->rank * w.block->warps.size() + w.index;
  if (listeners_.size() <= at) listeners_.resize(at + 1);
  return listeners_[at];
}

void LateNews::counted(std::uint32_t rank, std::uint32_t mbarrier, std::uint32_t parity) {
  for (Phase& each : counted_)
    if (each.rank == rank && each.mbarrier == mbarrier) {
      each.parity = parity;
      return;
    }
  counted_.push_back({rank, mbarrier, parity});
}

void LateNews::told(const Warp& w, std::uint32_t mbarrier, std::uint32_t parity) {
  const Phase phase{w.block->rank, mbarrier, parity};
  std::erase(counted_, phase);
  if (listeners_.empty()) return;
  if (Listener& l = listener(w); l.late == phase) l.failed = 0;
}

void LateNews::forget(std::uint32_t rank, std::uint32_t mbarrier) {
  std::erase_if(counted_,
                [&](const Phase& each) { return each.rank == rank && each.mbarrier == mbarrier; });
}

bool LateNews::withheld(const Warp& w, const Instruction& instruction, std::uint32_t mbarrier,
                        std::uint32_t parity) {
  const Phase phase{w.block->rank, mbarrier, parity};
  if (std::ranges::find(counted_, phase) == counted_.end()) return false;
  Listener& l = listener(w);
  ++l.asked;
  if (l.failed != 0 && l.late == phase) {
    l.asked_late = l.asked;
    if (l.failed++ < most && failed_of_all.fetch_add(1, std::memory_order_relaxed) < most_of_all)
      return true;
    if (l.failed > most) patient().add(instruction);
    l.failed = 0;
    l.at_once = phase;
    return false;
  }
  // Of one phase at a time, so that a thread may learn of one and not of another.
  if (l.failed != 0 && l.asked - l.asked_late <= turned_away) return false;
  l.failed = 0;
  if (l.phases != 0 && l.at_once == phase) return false;
  if (!is_late(l.phases++) || patient().has(instruction) ||
      failed_of_all.load(std::memory_order_relaxed) >= most_of_all) {
    l.at_once = phase;
    return false;
  }
  l.late = phase;
  l.failed = 1;
  l.asked_late = l.asked;
  return true;
}

}  // namespace inflight::machine
