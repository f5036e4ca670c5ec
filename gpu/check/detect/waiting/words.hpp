// Writes the findings about mbarriers, barriers and endless waits.
#pragma once
#include "gpu/check/detect/detector.hpp"
#include "gpu/check/detect/waiting/polling.hpp"

namespace inflight::check {

class WaitingWords {
 public:
  explicit WaitingWords(const Session& session) : session_(session) {}

  void add(const MbarrierBreach& breach, const MbarrierHistory& history, const MbarrierPlace& at);
  void add(const BarrierBreach& breach);
  // Adds a finding for why the threads cannot go on. True if it explains the end of the launch.
  bool add(const Stuck& stuck, const ClusterState& state);
  // Whether nothing can change what the threads poll. `alone`: no other launch runs, and the host
  // cannot write what this launch polls.
  bool is_livelocked(const Stuck& stuck, const ClusterState& state, const DeviceMemory& memory,
                     bool alone) const;
  // Adds a finding for threads that poll without end. Returns as add() does, and false if they
  // still read something new.
  bool add_polling(const Hang& hang, const Polling::StateOf& state_of);

 private:
  Session session_;
};

}  // namespace inflight::check
