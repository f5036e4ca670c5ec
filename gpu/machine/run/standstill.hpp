// Whether the clusters of a launch stand still: all that can run have only polled.
//
// It is a matter of turns, not of the host's time. A host that gives the process a small part of a
// core makes turns rare, and changes nothing that is counted here.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

namespace inflight::machine {

// The turns in which a cluster only polled since anything changed.
struct IdleTurns {
  std::uint64_t epoch = 0, turns = 0;
  std::uint64_t since = 0;   // its clock at the first of them, in ns
  bool polled_time = false;  // it also read the time, so its waits may end by themselves
  bool stands = false;       // it was counted as standing still
  bool flushed = false;      // and then as having nothing in flight
};

// Thread-safe.
class Standstill {
 public:
  // After so many turns in which it only polled, a cluster stands still. A warp polls up to 32
  // times in a turn, and Patience asks for more turns if there are few clusters.
  static constexpr std::uint64_t many = 64;
  // If it reads the time as well, its clock has advanced by this too: waits with a time limit of
  // their own have ended by then.
  static constexpr std::uint64_t longest_timed_wait = 10'000'000'000;  // ns

  // A cluster began, ended, or did something other than polling.
  void moved() {
    if (counting_.load(std::memory_order_relaxed)) begin_anew();
  }

  // A cluster only polled in a turn. Returns whether it stands still. `time`: its clock in ns.
  bool polled(IdleTurns& of, bool polled_time, std::uint64_t time);
  enum class Next : std::uint8_t {
    go_on,   // others still move, or may
    flush,   // all stand still: what this one has in flight must land. Call moved() or flushed()
    stands,  // all stand still and have nothing in flight
  };
  // For a cluster that stands still. `live`: clusters that have not ended, of those handed out.
  Next next(const IdleTurns& of, std::uint64_t live) const;
  // The cluster had nothing in flight.
  void flushed(IdleTurns& of);

  std::uint64_t epoch() const { return epoch_of(standing_.load(std::memory_order_acquire)); }

 private:
  // A number of clusters, and above it the number of times that anything changed while any cluster
  // counted its turns.
  static constexpr unsigned count_bits = 32;
  static std::uint64_t epoch_of(std::uint64_t word) { return word >> count_bits; }
  static std::uint64_t count_of(std::uint64_t word) { return word & ((1ull << count_bits) - 1); }
  static void add(std::atomic<std::uint64_t>& word, std::uint64_t epoch);
  void begin_anew();

  std::atomic<bool> counting_{false};  // some cluster has counted a turn since the epoch began
  std::atomic<std::uint64_t> standing_{1ull << count_bits}, flushed_{0};
};

// How long a worker has seen nothing but polls, before the launch is taken for a deadlock.
class PollingPatience {
 public:
  // Turns of the worker, most of them after a nap: about two seconds on a host that does little
  // else. A program that gives up after a number of tries has done so by then.
  static constexpr std::uint64_t long_enough = 16384;
  static constexpr std::uint64_t between = 256;  // turns between two questions

  // A turn in which a cluster only polled. `awake`: the worker's host::AwakeTime.
  void turn(std::uint64_t epoch, std::chrono::nanoseconds awake);
  // Is it time to ask whether anything can change?
  bool due() const { return turns_ >= ask_at_; }
  // The same, and every turn of another worker that had begun when it was first time has ended: it
  // might have done more than poll. `turns`: WorkQueue::turn() of all workers; its own: 0.
  bool over(std::span<const std::uint64_t> turns);
  // For how long only polls had been seen when it was first time.
  std::chrono::nanoseconds idle() const { return asked_after_; }
  // The answer was no.
  void renew() {
    in_turns_.clear();
    ask_at_ = turns_ + between;
  }

 private:
  std::uint64_t epoch_ = 0, turns_ = 0, ask_at_ = long_enough;
  std::chrono::nanoseconds since_{0}, awake_{0}, asked_after_{0};
  std::vector<std::uint64_t> in_turns_;  // the workers' turns when it was first time
};

}  // namespace inflight::machine
