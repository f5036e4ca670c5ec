// Which threads of a cluster wait for ever, and which of their waits is the cause of the others.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/check/detect/waiting/left_behind.hpp"

namespace inflight::check {

class Standstill {
 public:
  // What an mbarrier's phase lacks, the most certain cause first.
  enum class Lack : std::uint8_t {
    bytes,       // all threads have arrived, and no copy is in flight
    arrival,     // bytes were expected or delivered, and no thread arrived
    overrun,     // the phase that the waiting threads have yet to see is complete, and the next too
    arrivals,    // some threads arrived
    passed,      // no thread arrived, and the waiting threads did not wait for the previous phase
    everything,  // no thread arrived
  };
  // Threads at one instruction that wait for the same thing.
  struct Group {
    Stuck::Threads first;
    std::uint32_t threads = 0;
    const MbarrierHistory* mbarrier = nullptr;  // the live mbarrier that it waits for, or null
    Lack lack = Lack::everything;
  };
  // Why the threads of the root cannot go on. Each is looked for only if none before it is found.
  enum class Cause : std::uint8_t {
    endless_loop,        // it has no way out and does not wait
    registers,           // setmaxnreg.inc finds too few
    lacking_bytes,       // Lack::bytes of the root's mbarrier
    lacking_arrival,     // Lack::arrival
    left_behind,         // threads wait at a barrier that others have left for good
    overrun,             // Lack::overrun
    lacking_arrivals,    // Lack::arrivals
    wrong_phase,         // Lack::passed
    barrier_count,       // a barrier's count is higher than the number of threads that arrive
    different_barriers,  // threads wait for each other at different barriers or collectives
    waiting_copier,      // threads wait for arrivals, and others for the copies that they make then
    circle,              // each waits for another
    count_,
  };
  // A wait that returned at once, or that nothing kept from being overrun: possibly the cause of a
  // root whose mbarrier lacks every arrival.
  struct Doubt {
    MbarrierBreach wait;
    const MbarrierHistory* mbarrier;
    MbarrierPlace place;
  };

  Standstill(const Stuck& stuck, const ClusterState& state);

  bool empty() const { return groups_.empty(); }  // no thread waits. Nothing else may be asked then
  const std::vector<Group>& groups() const { return groups_; }  // in the order of Stuck::threads
  const Group& root() const { return groups_[root_]; }
  Cause cause() const { return cause_; }
  const std::optional<Doubt>& doubt() const { return doubt_; }
  const LeftBehind& left_behind() const { return *left_; }  // for Cause::left_behind

  std::uint32_t blocks() const { return state_.size; }  // number of blocks in the cluster
  // The numbers of a block's threads that have exited and that have not.
  std::uint32_t exited(std::uint64_t block) const;
  std::uint32_t living(std::uint64_t block) const;
  // The phase of the block's barrier that `wait` is for.
  const BarrierPhase& barrier_of(const Wait& wait) const;
  // The number of threads that the root's barrier expects. 0: all of the block, or no such barrier.
  std::uint32_t expected() const;

 private:
  std::size_t find_root() const;
  Cause find_cause() const;
  std::optional<Doubt> find_doubt() const;
  bool waits_for_a_waiting_copier(const Group& group) const;

  const ClusterState& state_;
  std::vector<Group> groups_;
  std::optional<LeftBehind> left_;
  std::size_t root_ = 0;  // index in groups_
  Cause cause_ = Cause::circle;
  std::optional<Doubt> doubt_;
};

}  // namespace inflight::check
