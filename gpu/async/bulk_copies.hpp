// Bulk and tensor copies in flight of a cluster (PTX ISA, "Data Movement and Conversion
// Instructions: Bulk copy", "Tensor copy"; st.async and red.async, which complete the same way).
//
//   issue        a copy begins; what completes it is an mbarrier's tx-count or a bulk group
//   commit       the thread's uncommitted bulk-group copies become its newest group
//   wait_group   returns once at most its `n` newest groups may still be in flight
//
// A copy that an mbarrier completes counts its bytes there when they have been written. A thread's
// groups complete in the order of their commits. Nothing blocks: a wait makes its bytes move and
// returns, so the caller only ever waits on mbarriers, with flush_for().
//
// Used by one host thread at a time. Addresses are checked (bounds, alignment) by whoever knows the
// memory. A multicast is a copy for each destination.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

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
  Reduce reduce = nullptr;           // combined with the destination instead of written
  std::uint32_t bytes = 0;           // of `bytes` and `value`
  std::uint16_t byte_mask = 0xffff;  // of every 16 bytes, which are written
  std::uint8_t left_out = 0;         // bytes of its size that are past the last whole 16
  std::byte* to = nullptr;           // host addresses
  const std::byte* from = nullptr;
  std::array<std::byte, 16> value{};
  TensorMap map;      // of tensor copies
  TensorPlace place;  // .shared counts from `shared`
  std::byte* shared = nullptr;

  mbarrier::Word* mbarrier = nullptr;  // completes it; null: a bulk group does, or nothing
  std::uint32_t tx_bytes = 0;          // counted there
  bool watch = false;  // its source can change: notice if it has, when the bytes move

  std::uint64_t id = 0;      // set at issue: counts the cluster's, from 1
  std::uint32_t thread = 0;  // who issued it: block_rank << 10 | thread of the block
  // The caller's; observers see them.
  std::uint64_t tag = 0;
  std::uint32_t rank = 0, mbarrier_offset = 0;  // of the destination's mbarrier
  std::uint64_t map_address = 0;                // where the program has the map
  std::int64_t seen = 0;  // from the destination to where the program has it besides
};

// Bytes of a copy that lie together at both ends. From nowhere: a load fills them with zeros, or
// they are the copy's value.
struct BulkRun {
  std::byte* to;
  const std::byte* from;
  std::uint32_t bytes;
};
// Calls f(const BulkRun&) for all that the copy reads and writes.
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

// The thread that issued it, or commits or waits.
constexpr Threads issuer(std::uint32_t thread) {
  return {static_cast<std::uint16_t>(thread >> 10),
          static_cast<std::uint16_t>((thread & 1023) / 32), 1u << thread % 32};
}

class BulkCopies {
 public:
  BulkCopies(const Order& order, Observer& observer);
  // As if new. Copies still in flight are forgotten: flush_all() first.
  void reset(const Order& order);

  void issue(const BulkCopy& copy);
  // A copy of no bytes, whose addresses may be anything: done at once, and completes nothing.
  void issue_empty(const BulkCopy& copy);
  void commit(std::uint32_t thread, std::uint64_t tag = 0);
  // `.read` asks that the sources have been read: here the whole copy is done then.
  void wait_group(std::uint32_t thread, std::uint32_t newest_allowed, bool read_only,
                  std::uint64_t tag = 0);

  // Completes the copies that count on this mbarrier, in order, until its phase completes. Call it
  // when a test of the mbarrier fails and its thread has nothing else to do.
  void flush_for(const mbarrier::Word* word);
  // Completes everything that a block issued (its end), or everything (nothing else can run).
  // False if there was nothing.
  bool flush_block(std::uint32_t rank);
  bool flush_all();
  // A moment passes: in a shuffled order some bytes may move.
  void advance();
  // Watches the copies in flight whose sources are in [low, high), as BulkCopy::watch does.
  void watch(std::uint64_t low, std::uint64_t high);

  bool idle() const { return in_flight_.empty(); }
  std::size_t in_flight() const { return in_flight_.size(); }
  std::uint32_t groups_in_flight(std::uint32_t thread) const;

 private:
  // Who completes the copy stands here, so that what asks for it touches no copy of others.
  struct Record {
    const mbarrier::Word* mbarrier;  // or null, and a bulk group does:
    std::uint32_t thread;            // whose
    std::uint32_t group;             // counted from 0; its number when committed
    BulkCopy* copy;
    std::uint64_t source;  // the fingerprint at issue, of a copy that is watched
    bool waits_for_group(std::uint32_t of) const { return mbarrier == nullptr && thread == of; }
  };
  template <class Due>
  bool complete_if(Due due);
  void complete(const Record& record);
  void complete_oldest();

  Order order_;
  Observer& observer_;
  Pool<BulkCopy, 4> copies_;
  std::vector<Record> in_flight_;                            // oldest first
  std::unordered_map<std::uint32_t, std::uint32_t> groups_;  // committed, by thread
  std::uint64_t issued_ = 0;
};

}  // namespace inflight::async
