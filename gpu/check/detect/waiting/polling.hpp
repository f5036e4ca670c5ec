// The threads that poll without end, what they poll, and which threads wrote the values they read.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "gpu/check/detect/waiting/cluster_state.hpp"

namespace inflight::check {

// The warp's last polls (WarpPolls::many) read nothing new. False for null: it never polled.
bool sees_nothing_new(const WarpPolls* polls);
// The threads poll. Threads that sleep between two polls count as well.
bool is_polling(const Stuck::Threads& threads, const WarpPolls* polls);
// The polls of the threads' warp. Null if there are none.
const WarpPolls* polls_of(const Stuck::Threads& threads, const ClusterState* state);

// Threads of a block that poll one location at one instruction and read nothing new.
struct PollSite {
  Poll poll;
  std::uint32_t threads = 0;
  std::optional<Write> written;  // the write of the value they read, if by another warp
  // At a time-out: a write there between their last polls, which all read the same. So the value is
  // changed and changed back.
  std::optional<Write> changed;
};

// The end of a launch whose threads only polled: Stuck of all its clusters together.
struct Hang {
  Stuck::Why why = Stuck::Why::only_polling;
  std::uint64_t not_begun = 0, first = 0;  // number of blocks; a block of the cluster that ended it
  std::vector<Stuck::Threads> threads;     // those of that cluster come first
  std::uint64_t blocks = 0;                // of the grid
  std::vector<Write> ended;                // the last writes by blocks that have ended
  // The blocks that have ended, if all have begun.
  std::vector<std::uint64_t> ended_blocks() const;
};

struct Polling {
  using StateOf = std::function<const ClusterState*(std::uint64_t block)>;  // may return null
  Polling(const Hang& hang, const StateOf& state_of);

  std::vector<PollSite> sites;  // by instruction, then by block
  std::optional<Who> waits;     // threads that wait without polling, if any
  // Threads do something else, or still read something new: any at a time-out, else those of the
  // cluster that ended the launch.
  bool makes_progress = false;
  bool sees_changes = false;  // at a time-out: what threads read still changes
  // A cycle of sites: each reads what the threads of the next wrote, and the last reads what those
  // of the first wrote. Empty if there is none.
  std::vector<const PollSite*> circle() const;

 private:
  const PollSite* of_writer(const Write& write) const;  // the site of the writer's warp, or null
};

}  // namespace inflight::check
