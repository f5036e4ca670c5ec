// The ledger of a cluster: all that is in flight, found by who can complete it.
//
//   kind           issued by            completed by
//   ThreadCopies   threads of a warp    their thread groups; arrivals on mbarriers follow them
//   BulkCopies     a thread             its bulk groups, or transactions on an mbarrier
//   Multiplies     four warps at once   the groups of each of them
//
// Each kind has records of its own, since what they hold and how they complete is different: 32
// addresses and a mask of the threads that still wait; a box and the map that it is cut by; parts
// of four warps that are one operation. What they share is here and beside it: the choice of
// moments (Order, order.hpp), who hears of them (observer.hpp), storage (pool.hpp), and the index
// below.
//
// Used by one host thread at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/async/bulk_copies.hpp"
#include "gpu/async/multiplies.hpp"
#include "gpu/async/thread_copies.hpp"

namespace inflight::async {

class Ledger {
 public:
  Ledger(Timing timing, Observer& observer, std::uint32_t blocks);
  // Block `rank` of the cluster begins as block `number` of its grid, with nothing in flight.
  void start(std::uint32_t rank, std::uint64_t number);

  // --- by issuer: made on first use ---
  ThreadCopies& of_warp(std::uint32_t rank, std::uint32_t warp) {
    const auto& copies = blocks_[rank].copies;
    if (warp < copies.size() && copies[warp]) [[likely]]
      return *copies[warp];
    return make_copies(rank, warp);
  }
  BulkCopies& bulk() { return bulk_; }
  Multiplies& of_warpgroup(std::uint32_t rank, std::uint32_t group);
  // The same if it was made; null otherwise.
  ThreadCopies* find_warp(std::uint32_t rank, std::uint32_t warp);
  Multiplies* find_warpgroup(std::uint32_t rank, std::uint32_t group);

  // --- by who can complete it ---
  // Whoever waits on this mbarrier of block `rank`: all kinds of copies that it needs, until its
  // phase completes.
  void flush_for(std::uint32_t rank, const mbarrier::Word* word);
  // Threads that end.
  void flush_threads(const Threads& threads);
  // A block of which nothing else can run; one that ends; a cluster of which nothing else can run.
  // False if there was nothing.
  bool flush_thread_copies(std::uint32_t rank);
  bool flush_block(std::uint32_t rank);
  bool flush_all();

  // A moment passes for a block: in a shuffled order, something may complete.
  void advance(std::uint32_t rank);
  // Watches the copies in flight whose sources are in [low, high) of global memory: a change there
  // is noticed when their bytes move.
  void watch(std::uint64_t low, std::uint64_t high);

 private:
  struct OfBlock {
    std::uint64_t number = 0;
    std::vector<std::unique_ptr<ThreadCopies>> copies;    // by warp
    std::vector<std::unique_ptr<Multiplies>> multiplies;  // by warpgroup
  };
  ThreadCopies& make_copies(std::uint32_t rank, std::uint32_t warp);
  template <class F>
  static void each(OfBlock& block, F f);

  const Timing timing_;
  Observer& observer_;
  std::vector<OfBlock> blocks_;  // by rank
  BulkCopies bulk_;
};

}  // namespace inflight::async
