// What the threads of a cluster have done to its blocks' tensor memory: for each lane and column,
// the operations that a later one must be ordered behind (PTX ISA, "TensorCore 5th Generation:
// Memory Consistency Model").
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "gpu/check/events.hpp"
#include "gpu/check/finding/places.hpp"
#include "gpu/check/order/knowledge.hpp"

namespace inflight::check::races {

// A ld, st, mma, cp, allocation or release.
struct TensorOperation {
  enum class Kind : std::uint8_t { load, store, multiply, copy, allocation, release };
  Kind kind = Kind::load;
  Who who;
  PlaceId place = no_place;
  order::Row row = 0;  // of its warp's threads, or of the thread's work for the tensor cores
  order::Epoch epoch = 0;
  // Of ld and st, when its warp has since executed: tcgen05.wait, an instruction that uses a loaded
  // register, tcgen05.fence::before_thread_sync. 0: not yet.
  order::Epoch waited = 0, used = 0, published = 0;
  bool is_work() const { return kind == Kind::multiply || kind == Kind::copy; }
  bool is_access() const { return kind == Kind::load || kind == Kind::store; }
};

class TensorLedger {
 public:
  static constexpr std::uint32_t columns = 512, granule = 32;
  using Id = std::uint32_t;  // counts from 1
  static constexpr Id none = 0;

  struct Entry {
    Id operation = none;
    std::uint16_t lanes = 0;
    bool writes = false;
  };
  // One column of 16 lanes.
  struct Cell {
    std::vector<Entry> entries;  // those that have no later write over all of their lanes
    bool written = false;        // since its allocation
  };
  struct Memory {
    std::array<std::vector<Cell>, TensorRun::segments> cells;  // by column; empty: not used yet
    std::array<Id, columns / granule> allocated{}, freed{};    // by whom
    std::vector<Id> open;           // ld and st that no wait has followed, oldest first
    std::vector<Id> open_to_fence;  // ld and st since their warps' last fence
    // What each warp knew at its last tcgen05.fence::after_thread_sync.
    std::vector<order::Snapshot> after;
    Cell& cell(std::uint32_t segment, std::uint32_t column);
    // The operation `by` allocates or frees these columns.
    void clear(std::uint32_t first, std::uint32_t count, Id by, bool allocates);
  };
  // The last work of each instruction and thread, for the ends of blocks.
  struct Last {
    TensorOperation operation;
    std::uint16_t rank = 0;  // of its block
    bool in_pair = false;
  };

  Id add(const TensorOperation& operation);
  // Null: too many have followed since.
  TensorOperation* find(Id id);
  Memory& of(std::uint32_t rank);
  void remember(const Last& last);
  const std::vector<Last>& last() const { return last_; }

 private:
  static constexpr std::size_t most = 1 << 15;
  std::deque<TensorOperation> operations_;
  Id first_ = 1;                                   // the id of the first of them
  std::vector<std::unique_ptr<Memory>> memories_;  // by rank
  std::vector<Last> last_;
};

}  // namespace inflight::check::races
