// Findings about tensor memory: their kinds and texts.
#pragma once
#include "gpu/check/detect/detector.hpp"
#include "gpu/check/detect/races/tensor_ledger.hpp"

namespace inflight::check::races {

// How an operation on tensor memory comes before a later one.
enum class TensorOrder : std::uint8_t {
  complete,      // it is known to be complete
  unfenced,      // likewise, but without the fences of tcgen05
  by_use,        // a ld: only a use of its registers shows that it is complete
  not_waited,    // a ld or st: its issue is known, but its warp had not waited for it
  not_observed,  // mma, cp: the phase on which their commit arrives was not observed
  weak,          // only by relaxed operations, or ones of too small a scope
  none,
};

struct TensorConflict {
  const TensorOperation &earlier, &later;
  bool earlier_writes;
  const TensorRun& run;  // of the later one
  std::uint32_t column;  // that both access
  TensorOrder how;
};

class TensorWords {
 public:
  explicit TensorWords(const Session& session) : session_(session) {}
  // `how` is not `complete`.
  void conflict(const TensorConflict& c);
  // Nothing has written the column since its allocation.
  void unwritten(const TensorOperation& reader, const TensorRun& run, std::uint32_t column);
  // Nothing orders the use behind the allocation.
  void before_allocation(const TensorOperation& user, const TensorOperation& allocation,
                         const TensorRun& run);
  // A use of a column that was freed before it ends the kernel.
  void freed_before(const Who& user, const TensorOperation& release, std::uint32_t column);
  // A block ends while it may still be executed.
  void ends_with(const TensorOperation& work);
  // A block ends, and its columns are not freed.
  void not_freed(const TensorOperation& allocation);

 private:
  Party party(const TensorOperation& operation, std::string did) {
    return session_.places.party(operation.who, std::move(did));
  }
  PlaceId line_of(const TensorOperation& o) const { return session_.places.line_of(o.place); }
  Session session_;
  // The last conflict that was told, because one operation has many columns.
  const TensorOperation* last_ = nullptr;
  bool last_writes_ = false, told_unwritten_ = false, told_early_ = false;
};

}  // namespace inflight::check::races
