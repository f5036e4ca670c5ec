// A cluster's asynchronous operations in flight, indexed by what can complete them.
//
//   kind           issued by            completed by
//   ThreadCopies   threads of a warp    their thread groups; arrivals on mbarriers wait for them
//   BulkCopies     a thread             its bulk groups, or transactions on an mbarrier
//   Multiplies     four warps at once   the groups of each warp
//   TensorWork     a thread             commits on mbarriers
//
// Each kind has its own records, which differ in content and in how they complete: 32 addresses and
// a mask of waiting threads; a tensor map and a box; the parts of four warps that form one
// operation. All kinds share the choice of when operations happen (Order, order.hpp), the storage
// (pool.hpp), and the index below. Copies report to an observer (observer.hpp). Multiplications do
// not: whoever issues them and waits for them knows all that happens.
//
// What completes an operation finds it without a search among the others. A thread's groups are in
// the queue of its warp, or in its list of bulk copies. A multiplication is in the queue of its
// warpgroup. An mbarrier has a list of its bulk copies. Only the thread copies that an mbarrier may
// wait for are in the queues of up to 32 warps, so a wait asks each whether it has an arrival.
//
// Not thread-safe.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/async/bulk_copies.hpp"
#include "gpu/async/multiplies.hpp"
#include "gpu/async/tensor_work.hpp"
#include "gpu/async/thread_copies.hpp"

namespace inflight::async {

class Ledger {
 public:
  Ledger(Timing timing, Observer& observer, std::uint32_t blocks);
  // Starts block `rank` of the cluster as block `number` of its grid, with nothing in flight.
  void start(std::uint32_t rank, std::uint64_t number);

  // --- by issuer: created on first use ---
  ThreadCopies& of_warp(std::uint32_t rank, std::uint32_t warp) {
    const auto& copies = blocks_[rank].copies;
    if (warp < copies.size() && copies[warp]) [[likely]]
      return *copies[warp];
    return make_copies(rank, warp);
  }
  BulkCopies& bulk() { return bulk_; }
  TensorWork& tensor_work() { return tensor_work_; }
  Multiplies& of_warpgroup(std::uint32_t rank, std::uint32_t group);
  // Return null if the entry was not created.
  ThreadCopies* find_warp(std::uint32_t rank, std::uint32_t warp);
  Multiplies* find_warpgroup(std::uint32_t rank, std::uint32_t group);

  // --- by what can complete it ---
  // Completes copies of all kinds that this mbarrier of block `rank` needs, until its phase
  // completes.
  void flush_for(std::uint32_t rank, const mbarrier::Word* word);
  // Completes the thread copies of threads that exit.
  void flush_threads(const Threads& threads);
  // Complete copies when nothing else of a block can run, when a block ends, and when nothing else
  // of the cluster can run. Return false if there were none.
  bool flush_thread_copies(std::uint32_t rank);
  bool flush_block(std::uint32_t rank);
  bool flush_all();

  // Called between steps of a block. In a shuffled order it may complete operations.
  void advance(std::uint32_t rank);
  // Watches the copies in flight whose sources overlap [low, high) of global memory. If a source
  // changes, it is reported when the bytes move.
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
  TensorWork tensor_work_;
};

}  // namespace inflight::async
