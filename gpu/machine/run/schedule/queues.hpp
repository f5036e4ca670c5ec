// The queues of a launch's workers, which a host thread keeps for its next launch.
#pragma once
#include <cstdint>
#include <memory>

#include "gpu/machine/run/schedule/work_queue.hpp"

namespace inflight::machine {

// A queue's cache lines are in the cache of the worker that had it last. To create queues for each
// launch would fetch all those lines first, which takes longer than many a launch. So each worker
// resets the queue that it claims.
class Queues {
 public:
  explicit Queues(unsigned count);
  // The host thread keeps them.
  ~Queues();
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;
  // Clusters may be left in the queues, so they are not kept.
  void spoil() { set_.all.reset(); }

  unsigned size() const { return count_; }
  WorkQueue& operator[](std::size_t i) const { return set_.all[i]; }
  WorkQueue* begin() const { return set_.all.get(); }
  WorkQueue* end() const { return begin() + count_; }
  // The number of the launch among those that use these queues.
  std::uint64_t use() const { return set_.use; }

 private:
  struct Set {
    std::unique_ptr<WorkQueue[]> all;
    unsigned count = 0;
    std::uint64_t use = 0;
  };
  unsigned count_;
  Set set_;
};

}  // namespace inflight::machine
