// Wakes the threads that wait for an mbarrier and gives each of their warps a short turn.
#include "gpu/machine/run/failing_waits.hpp"

#include <algorithm>

#include "gpu/machine/run/cluster.hpp"
#include "gpu/machine/run/worker.hpp"

namespace inflight::machine {
namespace {

bool waits(const Warp& w) {
  return std::ranges::any_of(w.parked, [](const Split& s) { return s.wait == Wait::mbarrier; });
}

}  // namespace

FailedWaits let_waits_fail(Cluster& cluster, Worker& worker) {
  FailedWaits failed;
  worker.give_up = true;
  for (auto& block : cluster.blocks) {
    if (block->ended) continue;
    for (auto& w : block->warps) {
      if (!waits(*w)) continue;
      w->wake(Wait::mbarrier, Warp::any_detail);
      w->worker = &worker;
      w->run(1);
      ++failed.tries;
      block->clock.pass(w->used());
      failed.progressed |= w->progressed || w->exchanged;
    }
  }
  worker.give_up = false;
  return failed;
}

}  // namespace inflight::machine
