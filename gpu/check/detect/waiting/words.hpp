// Findings about mbarriers, barriers and waits for ever, in words.
#pragma once
#include <optional>

#include "gpu/check/detect/detector.hpp"
#include "gpu/check/detect/waiting/polling.hpp"

namespace inflight::check {

// Where an mbarrier lies.
struct MbarrierPlace {
  std::uint64_t block = 0;  // linear, whose shared memory
  std::uint32_t address = 0;
};

class WaitingWords {
 public:
  explicit WaitingWords(const Session& session) : session_(session) {}

  void add(const MbarrierBreach& breach, const MbarrierHistory& history, const MbarrierPlace& at);
  void add(const BarrierBreach& breach);
  // Adds what keeps the threads from going on; true: it explains why the launch ended.
  bool add(const Stuck& stuck, const ClusterState& state);
  // Can nobody change what its threads poll? `alone`: no other launch runs.
  bool hopeless(const Stuck& stuck, const ClusterState& state, const DeviceMemory& memory,
                bool alone) const;
  // Adds who polls what; as add(). False as well where they see something new.
  bool add_polling(const Hang& hang, const Polling::StateOf& state_of);

 private:
  std::vector<Party> parties(std::vector<Contribution> all, std::string_view verb,
                             std::string_view unit);
  Bytes bytes(const MbarrierPlace& at, const Who& who);
  std::string name(const MbarrierPlace& at, const Who& who);
  Session session_;
};

}  // namespace inflight::check
