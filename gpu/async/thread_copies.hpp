// Copies in flight of a warp's threads: cp.async and its thread groups (PTX ISA, "Data Movement and
// Conversion Instructions: Non-bulk copy").
//
// Semantics are each thread's own; the records are not. One issue by any number of the warp's
// threads is one record with a mask of its issuers, so a whole warp's copy costs one record.
//
//   issue       a copy of 4, 8 or 16 bytes a thread begins; it belongs to no group yet
//   commit      the thread's uncommitted copies become its newest group (which may be empty)
//   wait_group  returns once at most its `n` newest groups may still be in flight
//   wait_all    returns once all its copies are complete, committed or not
//   arrive      an arrival on an mbarrier follows when all its prior copies are complete
//
// A thread's groups complete in the order of their commits; operations inside a group in any order.
// Nothing blocks: a wait makes its bytes move and returns, so the caller only ever waits on
// mbarriers, with flush_for(). Used by one host thread at a time. In the steady state nothing is
// allocated.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "gpu/async/mbarrier.hpp"
#include "gpu/async/observer.hpp"
#include "gpu/async/order.hpp"

namespace inflight::async {

inline constexpr std::uint32_t warp_size = 32;  // threads; bit t of a mask is thread t

// One cp.async as its threads execute it. Arrays have an element a thread of the warp; only those
// in `mask` are read. Addresses are checked (bounds, alignment) by whoever knows the memory.
struct Issue {
  std::uint32_t mask = 0;                    // who issues
  std::uint32_t bytes = 0;                   // cp-size: written by each thread; 4, 8 or 16
  const std::uint32_t* dst = nullptr;        // [32] shared addresses
  const std::uint64_t* src = nullptr;        // [32] global addresses
  const std::uint32_t* src_bytes = nullptr;  // [32] src-size, the rest is zero-filled; null: all.
                                             // ignore-src is 0
  std::byte* dst_base = nullptr;             // host address of shared address 0
  const std::byte* src_base = nullptr;       // host address of global address 0
  std::uint64_t tag = 0;                     // the caller's (an instruction); observers see it
  bool watch = false;  // its source can change: notice if it has, when the bytes move
};

// A copy in flight, as observers and reports see it.
struct Copy {
  std::uint64_t id = 0;                      // counts the warp's issues, from 1
  std::uint64_t tag = 0;                     // of the Issue
  std::uint32_t mask = 0;                    // who issued it
  std::uint32_t bytes = 0;                   // each thread
  std::array<std::uint32_t, warp_size> dst;  // shared addresses
  std::array<std::uint64_t, warp_size> src;  // global addresses
  std::array<std::uint8_t, warp_size> src_bytes;
  std::array<std::uint64_t, warp_size> src_fingerprint;  // of watched threads
  std::byte* dst_base = nullptr;
  const std::byte* src_base = nullptr;
};

// One cp.async.mbarrier.arrive as its threads execute it. The addresses are aligned to 8.
struct ArriveIssue {
  std::uint32_t mask = 0;
  const std::uint32_t* mbarrier = nullptr;  // [32] shared addresses
  std::byte* base = nullptr;                // host address of shared address 0
  bool noinc = false;                       // without it pending counts rise by one at issue
  std::uint64_t tag = 0;
};

// An asynchronous arrival, pending or just made.
struct Arrival {
  std::uint64_t id = 0;  // counts with the copies
  std::uint64_t tag = 0;
  std::uint32_t thread = 0;
  std::uint32_t mbarrier = 0;  // shared address
  bool noinc = false;
};

class ThreadCopies {
 public:
  // Of this warp, whose copies take their moments in this order.
  ThreadCopies(const Order& order, Observer& observer, std::uint16_t rank = 0,
               std::uint16_t warp = 0);
  ~ThreadCopies();
  // As if new, keeping the storage. Copies still in flight are forgotten: flush_all() first.
  void reset(const Order& order);

  void issue(const Issue&);
  void commit(std::uint32_t mask, std::uint64_t tag = 0);
  void wait_group(std::uint32_t mask, std::uint32_t newest_allowed, std::uint64_t tag = 0);
  void wait_all(std::uint32_t mask, std::uint64_t tag = 0);
  void arrive(const ArriveIssue&);

  // Completes what waiters on this mbarrier need from this warp: the pending arrivals on it and the
  // copies before them, in order, until its phase completes. Call it when a test of the mbarrier
  // fails and its thread has nothing else to do.
  void flush_for(const mbarrier::Word* word);
  // Completes every copy of these threads (their end), and of all threads (the block's end, or
  // nothing else can run), with their arrivals.
  void flush(std::uint32_t mask);
  void flush_all() { flush(0xffffffff); }
  // A moment passes: in a shuffled order some bytes may move.
  void advance();
  // Watches the copies in flight whose sources are in [low, high), as Issue::watch does.
  void watch(std::uint64_t low, std::uint64_t high);

  bool idle() const;  // no copy and no arrival is pending
  bool arrivals_pending() const;
  // Threads that have copies in flight, and the groups of one thread that are not complete
  // (uncommitted copies are none).
  std::uint32_t threads_in_flight() const;
  std::uint32_t groups_in_flight(std::uint32_t thread) const;
  // Calls f(const Copy&, mask of the threads whose bytes have not moved), oldest first.
  template <class F>
  void for_each_in_flight(F f) const {
    for (std::size_t i = 0; i < in_flight_records(); ++i) {
      const Copy* copy = nullptr;
      if (std::uint32_t mask = record(i, copy)) f(*copy, mask);
    }
  }

 private:
  struct State;
  std::size_t in_flight_records() const;
  std::uint32_t record(std::size_t i, const Copy*& copy) const;  // 0: not a copy, or complete
  std::unique_ptr<State> state_;
};

}  // namespace inflight::async
