// Writes the findings about mbarriers, barriers and endless waits.
#pragma once
#include "gpu/check/detect/detector.hpp"
#include "gpu/check/detect/waiting/left_behind.hpp"
#include "gpu/check/detect/waiting/polling.hpp"

namespace inflight::check {

// Ways of Rules::barrier, behind those of BarrierBreach::What.
enum : std::uint64_t { grid_barrier_rule = 256, partial_tile_rule };

class WaitingWords {
 public:
  explicit WaitingWords(const Session& session) : session_(session) {}

  void add(const MbarrierBreach& breach, const MbarrierHistory& history, const MbarrierPlace& at);
  void add(const BarrierBreach& breach);
  // Adds a finding for why the threads cannot go on. True if it explains the end of the launch.
  bool add(const Stuck& stuck, const ClusterState& state);
  // Whether nothing can change what the threads poll. `alone_ms`: the part of Stuck::idle_ms in
  // which no other launch ran. 0: one does, or the host can write what this launch polls.
  bool is_livelocked(const Stuck& stuck, const ClusterState& state, const DeviceMemory& memory,
                     std::uint32_t alone_ms) const;
  // Adds a finding for threads that poll without end. Returns as add() does, and false if they
  // still read something new.
  bool add_polling(const Hang& hang, const Polling::StateOf& state_of);
  // A grid's barrier in a launch that is not cooperative.
  void add_grid_barrier(const Who& who);
  // A collective whose mask names lanes that the warp never had, in the code of a tile.
  void add_partial_tile(const Who& who, Mask members, Mask absent);

 private:
  bool add(const LeftBehind& left);
  Session session_;
};

}  // namespace inflight::check
