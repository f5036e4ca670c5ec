// The arrivals of a phase of an mbarrier, to be joined once when the phase completes. Threads that
// arrive together mostly know the same, so what they know is joined once for all of them.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "gpu/check/order/knowledge.hpp"

namespace inflight::order {

class Arrivals {
 public:
  // What these lanes of a warp publish (Snapshot::published).
  void add(const Snapshot& by, Row block, std::uint32_t warp, Mask mask, Epoch epoch) {
    const auto same = [&](const Knowledge& k) { return k.same(by.known); };
    if (std::ranges::none_of(known_, same)) known_.push_back(by.known);
    by.add_all(own_, block, warp, mask, epoch);
  }
  void raise(Row row, Mask mask, Epoch epoch) { own_.raise(row, mask, epoch); }

  bool empty() const { return known_.empty(); }
  // It has grown so much that it should be taken before the phase completes.
  bool is_large() const { return known_.size() + own_.order.size() > 256; }
  // Adds to `k` all that was added since the last clear().
  void add_to(Knowledge& k);
  void clear();

 private:
  // The members of a Knowledge that arrivals raise, before they are clocks.
  struct Own {
    Raises order;
    std::array<Raises, space_count> fenced;
    void raise(Row row, Mask mask, Epoch epoch) { order.raise(row, mask, epoch); }
  };
  std::vector<Knowledge> known_;  // all different
  Own own_;
};

}  // namespace inflight::order
