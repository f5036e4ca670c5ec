// The queues that a host thread keeps between launches.
#include "gpu/machine/run/schedule/queues.hpp"

#include <utility>

#include "gpu/host/of_this_thread.hpp"

namespace inflight::machine {

Queues::Queues(unsigned count) : count_(count) {
  if (Set& kept = host::of_this_thread<Set>(); kept.count >= count) std::swap(set_, kept);
  if (!set_.all) set_ = {std::make_unique<WorkQueue[]>(count), count, 0};
  ++set_.use;
}

Queues::~Queues() {
  if (!set_.all) return;
  if (Set& kept = host::of_this_thread<Set>(); kept.count < set_.count) std::swap(set_, kept);
}

}  // namespace inflight::machine
