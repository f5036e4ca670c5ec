// Who looks for ever at what, and who wrote what they see.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "gpu/check/detect/waiting/cluster_state.hpp"

namespace inflight::check {

// They have seen nothing new for long. Null: they never looked.
bool sees_nothing_new(const WarpPolls* polls);
// Who sleeps between two looks polls as well.
bool looks(const Stuck::Threads& threads, const WarpPolls* polls);
// Null: none.
const WarpPolls* polls_of(const Stuck::Threads& threads, const ClusterState* state);

// Threads of a block at one instruction that look at one place and see nothing new.
struct Look {
  Poll poll;
  std::uint32_t threads = 0;
  std::optional<Write> written;  // what they see, by a thread of another warp
};

// How a launch ended whose threads only looked: as Stuck, of all its clusters.
struct Hang {
  std::uint64_t not_begun = 0, first = 0;  // blocks; a block of the cluster that ended it
  std::vector<Stuck::Threads> threads;     // of that cluster first
};

struct Polling {
  using StateOf = std::function<const ClusterState*(std::uint64_t block)>;  // null: none
  Polling(const Hang& hang, const StateOf& state_of);

  std::vector<Look> looks;   // in the order of the code and of the blocks
  std::optional<Who> waits;  // one of those that wait and do not look
  bool goes_on = false;      // threads of the cluster that is stuck see something new
  // Looks of which each sees what the threads of the next wrote, and the last what those of the
  // first did. Empty: there is no such circle.
  std::vector<const Look*> circle() const;

 private:
  const Look* of_writer(const Write& write) const;  // of its warp; null: none
};

}  // namespace inflight::check
