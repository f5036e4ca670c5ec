// The accesses that a thread knows to come before its own, and what it publishes to others.
#pragma once
#include <array>

#include "gpu/check/order/clock.hpp"

namespace inflight::order {

struct Knowledge {
  Clock order;                            // base causality order: what comes before
  std::array<Clock, space_count> fenced;  // of `order`, what a proxy fence of the space follows
  Clock loose;  // what would come before if every scope were wide enough and every fence present

  void join(const Knowledge& other) {
    const bool strict = loose.same(order) && other.loose.same(other.order);
    order.join(other.order);
    for (std::uint32_t s = 0; s < space_count; ++s) fenced[s].join(other.fenced[s]);
    if (strict)
      loose = order;
    else
      loose.join(other.loose);
  }
  void raise(Row row, Mask mask, Epoch epoch) {
    const bool strict = loose.same(order);
    order.raise(row, mask, epoch);
    if (strict)
      loose = order;
    else
      loose.raise(row, mask, epoch);
  }
  void raise_range(Row first, unsigned bits, Epoch epoch) {
    const bool strict = loose.same(order);
    if (strict) loose = Clock();  // one holder less, so that `order` may change in place
    order.raise_range(first, bits, epoch);
    if (strict)
      loose = order;
    else
      loose.raise_range(first, bits, epoch);
  }
  // True if joining `other` would change nothing. May be false even so.
  bool includes(const Knowledge& other) const {
    return order.includes(other.order) && loose.includes(other.loose) &&
           fenced[0].includes(other.fenced[0]) && fenced[1].includes(other.fenced[1]);
  }
  // Makes both clocks one object if they are equal, so that later joins join one. May miss that.
  void unite() {
    if (order.includes(loose)) loose = order;
  }
  bool empty() const {
    return order.empty() && loose.empty() && fenced[0].empty() && fenced[1].empty();
  }
  bool same(const Knowledge& other) const {
    return order.same(other.order) && loose.same(other.loose) && fenced[0].same(other.fenced[0]) &&
           fenced[1].same(other.fenced[1]);
  }
};

// A thread's knowledge at one moment. What concerns the thread itself is kept apart from `known`
// until it is published, so that lanes that did the same can share a Snapshot.
struct Snapshot {
  Knowledge known;
  std::array<Epoch, copy_parts> waited{};          // own copies known complete, by Part
  std::array<Epoch, space_count> fenced_own{};     // own accesses that a proxy fence follows
  std::array<Epoch, space_count> fenced_copies{};  // own cp.async copies that one follows
  // Lanes that have synchronised: each knows what the others did up to the epoch. This means the
  // same as an entry in `known`, but a warp that synchronises often needs no new clock each time.
  struct Together {
    Row row = 0;
    Mask lanes = 0;
    Epoch epoch = 0;
    bool operator==(const Together&) const = default;
    bool covers(Row of, Mask mask, Epoch up_to) const {
      return up_to <= epoch && of == row && (mask & ~lanes) == 0;
    }
  };
  Together together;

  // What these lanes of a warp of the block publish. It includes their own accesses up to `epoch`.
  Knowledge published(Row block, std::uint32_t warp, Mask mask, Epoch epoch) const {
    Knowledge k = known;
    add_all(k, block, warp, mask, epoch);
    return k;
  }
  // What they publish beyond `known`. K: Knowledge, or what collects it
  template <class K>
  void add_all(K& k, Row block, std::uint32_t warp, Mask mask, Epoch epoch) const {
    k.raise(warp_row(block, Part::thread, warp), mask, epoch);
    add_own(k, block, warp, mask);
  }
  // The same without their own accesses.
  template <class K>
  void add_own(K& k, Row block, std::uint32_t warp, Mask mask) const {
    k.raise(together.row, together.lanes, together.epoch);
    for (std::uint32_t p = 0; p < copy_parts; ++p)
      if (waited[p] != 0) k.raise(warp_row(block, static_cast<Part>(p + 1), warp), mask, waited[p]);
    for (std::uint32_t s = 0; s < space_count; ++s) {
      k.fenced[s].raise(warp_row(block, Part::thread, warp), mask, fenced_own[s]);
      k.fenced[s].raise(warp_row(block, Part::group_copy, warp), mask, fenced_copies[s]);
    }
  }
  // Moves `together` into `known`.
  void merge_together() {
    known.raise(together.row, together.lanes, together.epoch);
    together = {};
  }
  bool knows(Row row, unsigned lane, Epoch epoch) const {
    return together.covers(row, Mask{1} << lane, epoch) || known.order.at(row, lane) >= epoch;
  }
  // It has nothing but `known`.
  bool is_common() const { return together.epoch == 0 && only_together(); }
  // It has nothing but `known` and `together`.
  bool only_together() const {
    Epoch any = 0;
    for (const Epoch e : waited) any |= e;
    for (std::uint32_t s = 0; s < space_count; ++s) any |= fenced_own[s] | fenced_copies[s];
    return any == 0;
  }
  // Whether it covers actors, of this block or another, without `together`. The clock's part of the
  // block is found once.
  bool covers(Row block, Row row, Mask mask, Epoch epoch) const {
    if (block_of(row) != block_of(block)) return known.order.covers(row, mask, epoch);
    if (part_.block != block || !part_.of.is_of(known.order))
      part_ = {block, known.order.part(block, row_bits)};
    return part_.of.covers(row, mask, epoch);
  }
  // The epoch up to which the accesses of all threads of the block are known. Cached, because every
  // access needs it.
  Epoch met(Row block) const {
    if (met_.block != block) met_ = {block, known.order.floor(block, warp_bits)};
    return met_.epoch;
  }
  // Everything that the launch of this row ever did is known. Cached for the same reason.
  bool knows_launch_of(Row row) const {
    const Row launch = launch_of(row);
    if (launch == whole_) return true;
    if (known.order.floor(launch << launch_shift, launch_shift) != always) return false;
    whole_ = launch;
    return true;
  }
  void changed() {
    met_ = {};
    part_ = {};
    whole_ = ~Row{0};
  }
  bool same(const Snapshot& o) const {
    return known.same(o.known) && together == o.together && waited == o.waited &&
           fenced_own == o.fenced_own && fenced_copies == o.fenced_copies;
  }

 private:
  struct Met {
    Row block = ~Row{0};
    Epoch epoch = 0;
  };
  mutable Met met_;
  struct PartOf {
    Row block = ~Row{0};
    Clock::Part of;
  };
  mutable PartOf part_;
  mutable Row whole_ = ~Row{0};  // the last launch that was found to be known
};

}  // namespace inflight::order
