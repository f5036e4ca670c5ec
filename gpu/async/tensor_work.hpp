// What a cluster's threads have given to the tensor cores that work on tensor memory: tcgen05.mma
// and cp in flight, and the commits by which mbarriers learn that they are complete (PTX ISA,
// "TensorCore 5th Generation: Memory Consistency Model").
//
//   issue   an operation begins
//   commit  an mbarrier gets an arrival once all prior operations of the thread are complete
//
// A thread's operations execute in order. No function blocks: the caller only waits on mbarriers,
// with flush_for(). Not thread-safe.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <map>

#include "gpu/async/mbarrier.hpp"
#include "gpu/async/observer.hpp"
#include "gpu/async/order.hpp"

namespace inflight::async {

struct TensorOperation;
using Perform = void (*)(const TensorOperation&);

// One tcgen05.mma or cp as a thread executes it. Addresses are of tensor memory.
struct TensorOperation {
  const void* what = nullptr;  // set by the caller, for `perform`
  void* context = nullptr;
  Perform perform = nullptr;
  std::uint64_t a = 0, b = 0;  // descriptors of matrices in shared memory, or A's address
  std::uint32_t d = 0, metadata = 0, scale_a = 0, scale_b = 0;  // addresses
  std::uint32_t descriptor = 0;                                 // of the instruction
  bool accumulates = false;
  std::uint8_t scale_d = 0;
  std::array<std::uint32_t, 8> lanes_left_out{};
};

// One arrival of a commit on one mbarrier.
struct TensorCommit {
  std::uint64_t tag = 0;               // the instruction, set by the caller
  std::uint32_t thread = 0;            // block_rank << 10 | thread of the block
  mbarrier::Word* mbarrier = nullptr;  // in block `rank`, at `offset`
  std::uint32_t rank = 0, offset = 0;
};

class TensorWork {
 public:
  TensorWork(const Order& order, Observer& observer);
  // Returns to the initial state. Drops what is in flight.
  void reset(const Order& order);

  void issue(std::uint32_t thread, const TensorOperation& operation);
  void commit(const TensorCommit& commit);

  // Completes what this mbarrier waits for, in order, until its phase completes.
  void flush_for(const mbarrier::Word* word);
  // Completes all that the threads of a block have issued, or all. Returns false if there was none.
  bool flush_block(std::uint32_t rank);
  bool flush_all();
  // Called between steps of the program. In a shuffled order it may complete the oldest of a
  // thread.
  void advance();
  bool idle() const { return threads_.empty(); }

 private:
  struct Entry {
    bool commits = false;
    TensorOperation operation;
    TensorCommit commit;
  };
  using Queue = std::deque<Entry>;                 // oldest first
  using Threads = std::map<std::uint32_t, Queue>;  // without empty ones
  void add(std::uint32_t thread, const Entry& entry);
  void complete(Entry& entry);
  // Completes the oldest `count` of a thread. Returns the thread after it.
  Threads::iterator complete(Threads::iterator thread, std::size_t count);

  Order order_;
  Observer& observer_;
  Threads threads_;
};

}  // namespace inflight::async
