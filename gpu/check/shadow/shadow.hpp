// Shadow memory of one address space: global memory, or the shared memory of one block. It grows
// with the lines that are touched.
#pragma once
#include <cstdint>
#include <vector>

#include "gpu/check/shadow/deferred.hpp"
#include "gpu/check/shadow/pages.hpp"
#include "gpu/check/shadow/series.hpp"

namespace inflight::shadow {

// One access of lanes of a warp, at one instruction.
struct Access {
  const std::uint64_t* addresses = nullptr;  // [32]
  order::Mask lanes = 0;
  std::uint32_t bytes = 0;  // each lane
  std::uint32_t place = 0;
  bool write = false;  // an atomic that changes memory is a write
  bool strong = false;
  order::Scope scope = order::Scope::cta;
  bool differ = false;      // a store: lanes at one address write different values
  bool by_texture = false;  // a read that need not see what its own launch has written
};

// Bytes that one actor touches: a bulk copy, or a copy of the host's.
struct Range {
  std::uint64_t address = 0, bytes = 0;
  std::uint32_t place = 0;
  bool write = false;
  bool async = true;
  bool strong = false;  // relaxed operations of gpu scope, each on an element of it: a reduction
};

// Of a copy: who performs it, as the shadow names it.
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

  // By the lanes themselves.
  void access(const order::Block& block, std::uint32_t warp, const Access& access,
              std::vector<Conflict>& conflicts);
  // By cp.async copies of the lanes, of the group that is open now; their row is Part::group_copy.
  void copy(const order::Block& block, std::uint32_t warp, const Access& access,
            std::vector<Conflict>& conflicts);
  // By one copy that a lane issues.
  void copy(const order::Block& block, std::uint32_t warp, unsigned lane, const Performer& by,
            const Range& range, std::vector<Conflict>& conflicts);
  // By a copy in a stream, which comes after what `knows` says.
  void host_copy(const order::Knowledge& knows, const Performer& by, const Range& range,
                 std::vector<Conflict>& conflicts);
  // A write of all of a range by a stream's work, which memory that nobody has touched yet learns
  // of when it is touched.
  void host_write_all(const order::Knowledge& knows, const Performer& by, const Range& range,
                      std::vector<Conflict>& conflicts);
  // The copy is still in flight when the phase that it should have ended with is complete.
  void restamp(const Performer& by, order::Epoch epoch, std::uint64_t address, std::uint64_t bytes);
  // Freed, or a block that ended: nothing there is remembered.
  void forget(std::uint64_t address, std::uint64_t bytes);

  std::size_t bytes() const;
  // Records that the limits cost.
  std::uint64_t forgotten() const { return shared_ ? shared_->forgotten() : own_.forgotten(); }

 private:
  // f(Page&) if there is that page.
  template <class F>
  void with_page(std::uint64_t page, F f) {
    shared_ ? shared_->with_page(page, f) : own_.with_page(page, f);
  }
  // Before something is written: what was read before is looked at now.
  void settle(const order::Block& block, bool by_copy);
  void access_at(const order::Block& block, std::uint32_t warp, order::Epoch epoch, bool late,
                 const Access& access, std::vector<Conflict>& conflicts);
  void lanes(const Actor& actor, order::Row row, order::Epoch epoch, const Access& access,
             order::Mask mask, std::vector<Conflict>& conflicts);
  void line(const Judge& judge, const Record& record, std::uint64_t line,
            std::vector<Conflict>& conflicts);
  // These two complete `record`. Bytes that all its lanes touch:
  void span(const Judge& judge, Record& record, std::uint64_t address, std::uint64_t bytes,
            std::vector<Conflict>& conflicts);
  // Lanes in equal steps, of which no element lies in two lines:
  void row(const Judge& judge, Record& record, const Series& series,
           std::vector<Conflict>& conflicts);

  order::Space space_;
  Limits limits_;
  OwnPages own_;                         // of a block
  DeferredReads deferred_;               // likewise
  std::unique_ptr<SharedPages> shared_;  // of global memory
};

}  // namespace inflight::shadow
