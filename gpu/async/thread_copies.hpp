// The copies in flight of a warp's threads: cp.async and its thread groups (PTX ISA, "Data Movement
// and Conversion Instructions: Non-bulk copy").
//
// The semantics are per thread, but the records are per warp. One issue by any number of the warp's
// threads is one record with a mask of its issuers.
//
//   issue       a copy of 4, 8 or 16 bytes per thread begins; it belongs to no group yet
//   commit      the thread's uncommitted copies become its newest group (which may be empty)
//   wait_group  returns once at most its `n` newest groups may still be in flight
//   wait_all    returns once all its copies are complete, committed or not
//   arrive      an mbarrier gets an arrival once all prior copies of the thread are complete
//
// A thread's groups complete in the order of their commits, the operations of a group in any order.
// No function blocks: a wait moves its bytes and returns. The caller only waits on mbarriers, with
// flush_for(). Not thread-safe. Allocates nothing in the steady state.
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

// One cp.async as its threads execute it. Arrays have one element per thread of the warp. Only
// those in `mask` are read. The caller checks the bounds and alignment of addresses.
struct Issue {
  std::uint32_t mask = 0;                    // the issuing threads
  std::uint32_t bytes = 0;                   // cp-size: written by each thread; 4, 8 or 16
  const std::uint32_t* dst = nullptr;        // [32] shared addresses
  const std::uint64_t* src = nullptr;        // [32] global addresses
  const std::uint32_t* src_bytes = nullptr;  // [32] src-size, the rest is zero-filled; null: all
                                             // bytes. 0 for ignore-src, never more than `bytes`
  std::byte* dst_base = nullptr;             // host address of shared address 0
  const std::byte* src_base = nullptr;       // host address of global address 0
  std::uint64_t tag = 0;                     // an instruction, set by the caller for observers
  bool watch = false;                        // report a source that changes before the bytes move
  std::uint32_t oversized = 0;    // threads whose src-size exceeds `bytes`, which it then counts as
  std::uint32_t source_size = 0;  // that of the first of them
};

// A copy in flight, as passed to observers and reports.
struct Copy {
  std::uint64_t id = 0;                          // a count over the warp's issues, from 1
  std::uint64_t tag = 0;                         // of the Issue
  std::uint32_t mask = 0;                        // the issuing threads
  std::uint32_t bytes = 0;                       // per thread
  std::uint32_t oversized = 0, source_size = 0;  // of the Issue
  std::array<std::uint32_t, warp_size> dst;      // shared addresses
  std::array<std::uint64_t, warp_size> src;      // global addresses
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
  bool noinc = false;                       // false: issue adds one pending arrival
  std::uint64_t tag = 0;
};

// An asynchronous arrival of each of some threads, pending or just made.
struct Arrival {
  std::uint64_t id = 0;  // from the same count as the copies
  std::uint64_t tag = 0;
  std::uint32_t mbarrier = 0;  // shared address
  bool noinc = false;
};

class ThreadCopies {
 public:
  // For this warp of block `rank`. `order` decides when its copies complete.
  ThreadCopies(const Order& order, Observer& observer, std::uint16_t rank = 0,
               std::uint16_t warp = 0);
  ~ThreadCopies();
  // Returns to the initial state, keeping the storage. Drops copies in flight; call flush_all()
  // first to complete them.
  void reset(const Order& order);

  void issue(const Issue&);
  void commit(std::uint32_t mask, std::uint64_t tag = 0);
  void wait_group(std::uint32_t mask, std::uint32_t newest_allowed, std::uint64_t tag = 0);
  void wait_all(std::uint32_t mask, std::uint64_t tag = 0);
  void arrive(const ArriveIssue&);

  // Completes the pending arrivals of this warp on this mbarrier and the copies before them, in
  // order, until its phase completes. Call it when a test of the mbarrier fails and its thread has
  // nothing else to do.
  void flush_for(const mbarrier::Word* word);
  // Completes all copies and arrivals of these threads when they exit, or of all threads when the
  // block ends or nothing else can run.
  void flush(std::uint32_t mask);
  void flush_all() { flush(0xffffffff); }
  // Called between steps of the program. In a shuffled order some bytes may move.
  void advance();
  // Watches the copies in flight whose sources overlap [low, high), as Issue::watch does.
  void watch(std::uint64_t low, std::uint64_t high);

  bool idle() const;  // true if no copy and no arrival is pending
  bool arrivals_pending() const;
  // The threads that have copies in flight, and the incomplete groups of one thread. Uncommitted
  // copies are not a group.
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
