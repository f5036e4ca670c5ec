// A vector clock per warp, joined where warps synchronise.
#include "gpu/check/detect/waiting/warp_order.hpp"

#include <algorithm>

namespace inflight::check {
namespace {

void join(std::vector<WarpOrder::Time>& into, const std::vector<WarpOrder::Time>& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

}  // namespace

WarpOrder::Time WarpOrder::step(std::uint32_t warp) { return rows_[warp].own = ++now_; }

// Lanes often pass on one after the other. Then only the warp's own time has changed.
void WarpOrder::release(std::uint32_t warp, SyncClock& at) {
  const Row& row = rows_[warp];
  if (at.until_.empty()) at.until_.resize(rows_.size());
  if (at.releaser_ != warp || at.releaser_version_ != row.version) join(at.until_, row.known);
  at.until_[warp] = row.own;
  at.releaser_ = warp;
  at.releaser_version_ = row.version;
  at.version_ = ++versions_;
}

void WarpOrder::acquire(std::uint32_t warp, const SyncClock& at) {
  Row& row = rows_[warp];
  row.last_sync = now_;
  if (row.acquired == at.version_) return;
  join(row.known, at.until_);
  row.acquired = at.version_;
  row.version = ++versions_;
}

bool WarpOrder::knows(std::uint32_t warp, std::uint32_t other, Time then) const {
  if (warp == other || then <= met_) return true;
  const auto& known = rows_[warp].known;
  return other < known.size() && known[other] >= then;
}

}  // namespace inflight::check
