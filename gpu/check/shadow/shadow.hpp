// Shadow memory of one address space: global memory, or the shared memory of one block. It grows
// with the lines that are accessed.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/check/shadow/deferred.hpp"
#include "gpu/check/shadow/pages.hpp"
#include "gpu/check/shadow/series.hpp"

namespace inflight::shadow {

// One access by lanes of a warp, at one instruction.
struct Access {
  const std::uint64_t* addresses = nullptr;  // [32]
  order::Mask lanes = 0;
  std::uint32_t bytes = 0;  // per lane
  std::uint32_t place = 0;
  bool write = false;  // an atomic that changes memory is a write
  bool strong = false;
  order::Scope scope = order::Scope::cta;
  bool differ = false;      // store: lanes at the same address write different values
  bool by_texture = false;  // a read that need not observe writes of its own launch
  bool in_row = false;      // all lanes take part, and their bytes follow each other
  order::Mask silent = 0;   // store: lanes whose write races with no other thread's write
  bool update = false;      // strong: a read-modify-write
  order::Observations* observes = nullptr;  // strong read: gets the writes that it observes
  // A volatile load or store, unless it is a load whose value decides where its thread goes.
  bool volatile_data = false;
};

// Bytes that one actor accesses: a bulk copy, or a copy by the host.
struct Range {
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t place = 0;
  bool write = false;
  bool async = true;
  bool strong = false;  // relaxed gpu-scope operations on the elements: a reduction
};

// The actor that performs a copy, as shadow memory stores it.
struct Performer {
  order::Row row = 0;
  unsigned lane = 0;
  order::Epoch epoch = 0;
};

class Shadow {
 public:
  explicit Shadow(order::Space space, Limits limits = {}) : space_(space), limits_(limits) {
    if (space == order::Space::global) shared_ = std::make_unique<SharedPages>();
  }

  // An access by the lanes themselves.
  void access(const order::Block& block, std::uint32_t warp, const Access& access,
              std::vector<Conflict>& conflicts);
  // Shared memory: lets `log` note the block's further weak reads, if none of them needs a check
  // now. take() then takes them. Call it, and close the log, before any other event of the block.
  void offer(const order::Block& block, ReadLog& log) { deferred_.open(block, log); }
  template <class F>
  void take(const order::Block& block, const ReadLog& log, F f) {
    deferred_.take(block, log, f);
  }
  // An access by cp.async copies of the lanes, in the current uncommitted group. Their row is
  // Part::group_copy.
  void copy(const order::Block& block, std::uint32_t warp, const Access& access,
            std::vector<Conflict>& conflicts);
  // An access by one copy that a lane issues.
  void copy(const order::Block& block, std::uint32_t warp, unsigned lane, const Performer& by,
            const Range& range, std::vector<Conflict>& conflicts);
  // An access by a copy in a stream, which is ordered after what `knows` contains.
  void host_copy(const order::Knowledge& knows, const Performer& by, const Range& range,
                 std::vector<Conflict>& conflicts);
  // A write of a whole range by work of a stream. Lines that do not exist yet get its record when
  // they are first accessed.
  void host_write_all(const order::Knowledge& knows, const Performer& by, const Range& range,
                      std::vector<Conflict>& conflicts);
  // The copy is still in flight although the phase that should include it is complete: moves its
  // records to `epoch`.
  void restamp(const Performer& by, order::Epoch epoch, std::uint64_t address, std::uint64_t bytes);
  // Removes all records of the range, which was freed, or whose block has ended.
  void forget(std::uint64_t address, std::uint64_t bytes);

  std::size_t bytes() const;
  // Number of records dropped because of the limits.
  std::uint64_t forgotten() const { return shared_ ? shared_->forgotten() : own_.forgotten(); }

 private:
  // Calls f(Page&) if the page exists.
  template <class F>
  void with_page(std::uint64_t page, F f) {
    shared_ ? shared_->with_page(page, f) : own_.with_page(page, f);
  }
  // Checks deferred reads. Call it before a write.
  void settle(const order::Block& block, bool by_copy);
  void access_at(const order::Block& block, std::uint32_t warp, order::Epoch epoch, bool late,
                 const Access& access, std::vector<Conflict>& conflicts);
  void prefetch(const Access& access, order::Mask mask) const;
  void lanes(const Actor& actor, order::Row row, order::Epoch epoch, const Access& access,
             order::Mask mask, std::vector<Conflict>& conflicts);
  void line(Judge& judge, const Record& record, std::uint64_t line,
            std::vector<Conflict>& conflicts);
  // These two fill in the rest of `record`. Bytes that all its lanes access:
  void span(Judge& judge, Record& record, std::uint64_t address, std::uint64_t bytes,
            std::vector<Conflict>& conflicts);
  // A series of lanes, without an element that crosses a line:
  void row(Judge& judge, Record& record, const Series& series, std::vector<Conflict>& conflicts);

  order::Space space_;
  Limits limits_;
  OwnPages own_;                         // shared memory of a block
  DeferredReads deferred_;               // likewise
  std::unique_ptr<SharedPages> shared_;  // global memory
};

}  // namespace inflight::shadow
