// A cluster's bulk and tensor copies in flight (PTX ISA, "Data Movement and Conversion
// Instructions: Bulk copy", "Tensor copy"; st.async and red.async, which complete the same way).
//
//   issue        a copy begins; it completes on an mbarrier's tx-count or in a bulk group
//   commit       the thread's uncommitted bulk-group copies become its newest group
//   wait_group   returns once at most its `n` newest groups may still be in flight
//
// A copy that completes on an mbarrier counts its bytes there once they are written. A thread's
// groups complete in the order of their commits. No function blocks: a wait moves its bytes and
// returns. The caller only waits on mbarriers, with flush_for().
//
// Not thread-safe. The caller checks the bounds and alignment of addresses. A multicast is one copy
// for each destination.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "gpu/async/mbarrier.hpp"
#include "gpu/async/observer.hpp"
#include "gpu/async/order.hpp"
#include "gpu/async/pool.hpp"
#include "gpu/async/reduction.hpp"
#include "gpu/async/tensor_copy.hpp"

namespace inflight::async {

// One bulk copy to one destination.
struct BulkCopy {
  enum class Kind : std::uint8_t {
    bytes,         // `bytes` from `from` to `to`
    value,         // st.async, red.async: the bytes are `value`
    tensor_load,   // the tensor's box to shared memory
    tensor_store,  // and back
  };
  Kind kind = Kind::bytes;
  Reduce reduce = nullptr;  // null: the copy overwrites the destination; otherwise of:
  ReduceOp operation = ReduceOp::add;
  TensorType element = TensorType::u8;
  std::uint32_t bytes = 0;           // of kinds `bytes` and `value`
  std::uint16_t byte_mask = 0xffff;  // which of every 16 bytes are written
  std::uint8_t left_out = 0;         // bytes after the last whole 16, which are not copied
  std::byte* to = nullptr;           // host addresses
  const std::byte* from = nullptr;
  std::array<std::byte, 16> value{};
  TensorMap map;             // of tensor copies
  TensorPlace place;         // .shared counts from `shared`
  bool one_of_four = false;  // a row of a gather or scatter
  std::byte* shared = nullptr;

  mbarrier::Word* mbarrier = nullptr;  // where it completes; null: in a bulk group, if any
  std::uint32_t tx_bytes = 0;          // counted on the mbarrier
  bool answers = false;                // a value of the hardware's: written as copies are
  bool strong = false;                 // its accesses are strong (PTX ISA, "Strong Operations")
  bool watch = false;                  // report a source that changes before the bytes move

  std::uint64_t id = 0;      // set at issue: a count over the cluster, from 1
  std::uint32_t thread = 0;  // the issuer: block_rank << 10 | thread of the block
  // Set by the caller for observers.
  std::uint64_t tag = 0;
  std::uint32_t rank = 0, mbarrier_offset = 0;  // of the destination's mbarrier
  std::uint32_t to_rank = 0;                    // of the block that is written to
  std::uint32_t named_rank = 0;                 // of the mbarrier that the operand names
  std::uint64_t map_address = 0;                // the map's address in the program
  std::int64_t seen = 0;  // offset to the destination's address in multicast memory; 0: none
};

// Bytes of a copy that are contiguous in source and destination. `from` is null if a load fills
// them or if they are the copy's value.
struct BulkRun {
  std::byte* to;
  const std::byte* from;
  std::uint32_t bytes;
};
// Calls f(const BulkRun&) for all bytes that the copy reads and writes.
template <class F>
void for_each_run(const BulkCopy& c, F f) {
  if (c.kind == BulkCopy::Kind::value) return f(BulkRun{c.to, nullptr, c.bytes});
  if (c.kind == BulkCopy::Kind::bytes) {
    for (std::uint32_t i = 0; i < c.bytes;) {
      std::uint32_t end = c.bytes;
      if (c.byte_mask != 0xffff) {
        const auto chosen = [&](std::uint32_t byte) { return c.byte_mask >> (byte & 15) & 1; };
        while (i < c.bytes && !chosen(i)) ++i;
        for (end = i; end < c.bytes && chosen(end);) ++end;
      }
      if (end > i) f(BulkRun{c.to + i, c.from + i, end - i});
      i = end;
    }
    return;
  }
  const bool load = c.kind == BulkCopy::Kind::tensor_load;
  for_each_run(c.map, c.place, load ? TensorDirection::load : TensorDirection::store,
               [&](const TensorRun& run) {
                 auto* const global = reinterpret_cast<std::byte*>(run.global);
                 std::byte* const shared = c.shared + run.shared;
                 if (load)
                   f(BulkRun{shared, run.inside ? global : nullptr, run.bytes});
                 else if (run.inside)
                   f(BulkRun{global, shared, run.bytes});
               });
}

// The thread that issues, commits or waits.
constexpr Threads issuer(std::uint32_t thread) {
  return {static_cast<std::uint16_t>(thread >> 10),
          static_cast<std::uint16_t>((thread & 1023) / 32), 1u << thread % 32};
}

class BulkCopies {
 public:
  BulkCopies(const Order& order, Observer& observer);
  // Returns to the initial state. Drops copies in flight; call flush_all() first to complete them.
  void reset(const Order& order);

  void issue(const BulkCopy& copy);
  // Issues a copy of zero bytes. Its addresses may be invalid. It ends at once and completes
  // nothing.
  void issue_empty(const BulkCopy& copy);
  void commit(std::uint32_t thread, std::uint64_t tag = 0);
  // `read_only` is `.read`, which waits for the reads of the sources only. Here the whole copy
  // completes.
  void wait_group(std::uint32_t thread, std::uint32_t newest_allowed, bool read_only,
                  std::uint64_t tag = 0);

  // Completes the copies that count on this mbarrier, in order, until its phase completes. Call it
  // when a test of the mbarrier fails and its thread has nothing else to do.
  void flush_for(const mbarrier::Word* word);
  // Completes all copies of a block, when it ends, or all copies, when nothing else can run.
  // Returns false if there were none.
  bool flush_block(std::uint32_t rank);
  bool flush_all();
  // Called between steps of the program. In a shuffled order it may complete a copy.
  void advance();
  // Sets BulkCopy::watch for the copies in flight whose sources overlap [low, high).
  void watch(std::uint64_t low, std::uint64_t high);

  bool idle() const { return count_ == 0; }
  std::size_t in_flight() const { return count_; }
  std::uint32_t groups_in_flight(std::uint32_t thread) const;

 private:
  struct Record;
  struct Neighbours {
    Record *older = nullptr, *newer = nullptr;
  };
  // Records in the order of issue, linked by one of their two pairs of pointers.
  template <Neighbours Record::*links>
  struct List {
    Record *oldest = nullptr, *newest = nullptr;
    void append(Record& record);
    void remove(Record& record);
  };
  // A copy in flight. It is in the list of all, and in that of the copies which the same mbarrier
  // or, without one, the same thread's wait completes.
  struct Record {
    BulkCopy copy;
    std::uint32_t group = 0;   // the bulk group's number in the thread, from 0
    std::uint64_t source = 0;  // the source's fingerprint, if watched
    Neighbours of_all, of_completer;
    List<& Record::of_completer>* completer = nullptr;
  };
  using OfAll = List<&Record::of_all>;
  using OfCompleter = List<&Record::of_completer>;
  struct Thread {
    std::uint32_t committed = 0;  // groups
    OfCompleter copies;           // that complete in them
  };
  template <Neighbours Record::*links, class Due>
  bool complete_while(const List<links>& list, Due due);
  void complete(Record& record);
  void complete_oldest();

  Order order_;
  Observer& observer_;
  Pool<Record, 4> records_;
  OfAll in_flight_;
  std::size_t count_ = 0;  // in flight
  std::unordered_map<std::uint32_t, Thread> threads_;
  std::unordered_map<const mbarrier::Word*, OfCompleter> mbarriers_;
  std::uint64_t issued_ = 0;
};

}  // namespace inflight::async
