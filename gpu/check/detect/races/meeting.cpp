// Looks for the operations by which the two sides of a conflict synchronise.
#include "gpu/check/detect/races/meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/check/detect/races/state.hpp"

namespace inflight::check::races {

using shadow::Conflict;
using How = Meeting::How;

namespace {

const Block* block_of_row(const Block& near, order::Row row) {
  for (const Block* each : near.cluster->blocks)
    if (each && order::block_of(each->order.row()) == order::block_of(row)) return each;
  return nullptr;
}

// Calls visit(use) for each operation on an mbarrier of the cluster by a warp that has not been
// followed by another of its lanes.
template <class Visit>
void each_use(const Block& near, order::Row row, Visit visit) {
  for (const Block* owner : near.cluster->blocks)
    if (owner)
      for (const auto& [offset, m] : owner->mbarriers)
        for (const Mbarrier::Use& use : m->uses)
          if (use.row == row) visit(*m, use);
}

bool is_arrival(const Mbarrier::Use& use, Places& places) {
  return places.at(places.of(use.who)).instruction.find("arrive") != std::string::npos;
}

// The epoch up to which the snapshot has what an actor did.
order::Epoch epoch_of(const order::Snapshot& known, order::Row row, unsigned lane) {
  const order::Epoch epoch = known.known.order.at(row, lane);
  return known.together.covers(row, order::Mask{1} << lane, known.together.epoch)
             ? std::max(epoch, known.together.epoch)
             : epoch;
}

// The lanes of a row of which the snapshot knows more than up to the epoch.
order::Mask known_after(const order::Snapshot& known, order::Row row, order::Epoch epoch) {
  order::Mask lanes = 0;
  for (unsigned lane = 0; lane < order::lanes; ++lane)
    if (epoch_of(known, row, lane) > epoch) lanes |= order::Mask{1} << lane;
  return lanes;
}

// One side, of which `known` knows less than of another thread of its warp or block.
struct Missed {
  const Block* near;
  const order::Snapshot* known;
  order::Row knower, row;  // of the knowing thread's warp, of the missed one's
  unsigned lane;
  order::Mask actors;   // those that made the same access
  order::Epoch access;  // when it did; 0: it has done so just now
};

// An mbarrier at which a lane of `by` arrives, for which the knower waits and at which the missed
// thread does not arrive.
bool meets_without(const Missed& m, order::Row by, order::Mask lane, Places& places) {
  bool met = false;
  for (const Block* owner : m.near->cluster->blocks) {
    if (!owner) continue;
    for (const auto& [offset, at] : owner->mbarriers) {
      bool arrives = false, waits = false, takes_part = false;
      for (const Mbarrier::Use& use : at->uses) {
        const bool arrival = is_arrival(use, places);
        arrives |= arrival && use.row == by && (use.who.mask & lane) != 0;
        takes_part |= arrival && use.row == m.row && (use.who.mask >> m.lane & 1) != 0;
        waits |= !arrival && use.row == m.knower;
      }
      met |= arrives && waits && !takes_part;
    }
  }
  return met;
}

// Finds that other thread: its row, and its lanes.
std::pair<How, std::pair<order::Row, order::Mask>> other_of(const Missed& m, Places& places) {
  const order::Epoch seen = epoch_of(*m.known, m.row, m.lane);
  if (const order::Mask lanes = known_after(*m.known, m.row, seen) & ~m.actors)
    return {How::other_lane, {m.row, lanes}};
  const order::Row warps = order::block_of(m.row) << order::row_bits;
  const Block* const block = block_of_row(*m.near, m.row);
  const bool same_block = order::block_of(m.row) == order::block_of(m.knower);
  for (std::uint32_t warp = 0; warp < (block ? block->order.warps() : order::lanes); ++warp) {
    const order::Row row = order::warp_row(warps, order::Part::thread, warp);
    if (row == m.row || row == m.knower) continue;
    const order::Mask lanes = known_after(*m.known, row, seen);
    if (lanes == 0) continue;
    const order::Mask since = m.access ? known_after(*m.known, row, m.access - 1) : 0;
    const order::Mask first = since ? since : lanes;
    if (!same_block || since != 0 || meets_without(m, row, first & -first, places))
      return {How::other_thread, {row, first}};
  }
  return {How::unknown, {}};
}

// The warp `by` arrives at an mbarrier for which a lane of `waits` waits.
bool answers(const Block& near, order::Row by, order::Row waits, Places& places) {
  bool found = false;
  for (const Block* owner : near.cluster->blocks) {
    if (!owner) continue;
    for (const auto& [offset, at] : owner->mbarriers) {
      bool arrives = false, waited = false;
      for (const Mbarrier::Use& use : at->uses) {
        const bool arrival = is_arrival(use, places);
        arrives |= arrival && use.row == by;
        waited |= !arrival && use.row == waits;
      }
      found |= arrives && waited;
    }
  }
  return found;
}

bool waits_at(const Mbarrier& m, order::Row row, Places& places) {
  return std::ranges::any_of(
      m.uses, [&](const Mbarrier::Use& use) { return use.row == row && !is_arrival(use, places); });
}

}  // namespace

Meeting meeting_of(const Block& block, const Who& by, const Conflict& c, Places& places) {
  Meeting m;
  m.earlier = short_line(places.at(c.earlier.place));
  m.later = short_line(places.at(c.later.place));
  const order::Snapshot& known = block.order.view(by.warp, c.later.lane);
  const order::Row theirs = c.earlier.row, mine = block.order.row() | by.warp;
  const order::Mask actors = c.earlier.lanes | order::Mask{1} << c.earlier.lane;
  const auto name = [&](How how, order::Row row, order::Mask lanes) {
    Who who = by;
    who.block = order::block_of(row) & 0xffffffff;
    who.warp = order::local_row(row);
    who.mask = lanes & -lanes;
    m.how = how;
    m.thread = to_text(places.threads(who));
    order::Epoch last = 0;
    each_use(block, row, [&](const Mbarrier&, const Mbarrier::Use& use) {
      if ((use.who.mask & who.mask) == 0 || use.epoch < last || !is_arrival(use, places)) return;
      last = use.epoch;
      m.at = short_line(places.at(places.of(use.who)));
    });
  };
  const Missed earlier{&block, &known, mine, theirs, c.earlier.lane, actors, c.earlier.epoch};
  if (const auto [how, who] = other_of(earlier, places); how != How::unknown) {
    name(how, who.first, who.second);
    return m;
  }
  // The same the other way round: in this run, the side that lacks an order came second.
  const Block* const other = block_of_row(block, theirs);
  if (other) {
    const order::Snapshot& then = other->order.view(order::local_row(theirs), c.earlier.lane);
    const order::Mask own = c.later.lanes | order::Mask{1} << c.later.lane;
    const Missed later{&block, &then, theirs, mine, c.later.lane, own, 0};
    if (const auto [how, who] = other_of(later, places); how != How::unknown) {
      name(how, who.first, who.second);
      m.later_first = true;
      return m;
    }
  }
  const Mbarrier::Use *behind = nullptr, *before = nullptr;
  const Mbarrier* at = nullptr;  // of `behind`
  bool they_use = false, i_use = false;
  each_use(block, mine, [&](const Mbarrier&, const Mbarrier::Use&) { i_use = true; });
  each_use(block, theirs, [&](const Mbarrier& of, const Mbarrier::Use& use) {
    they_use = true;
    if ((use.who.mask & actors) == 0 || !is_arrival(use, places)) return;
    if (use.epoch >= c.earlier.epoch) {
      if (!behind || use.epoch < behind->epoch) behind = &use, at = &of;
    } else if (known.knows(theirs, c.earlier.lane, use.epoch) &&
               (!before || use.epoch > before->epoch)) {
      before = &use;
    }
  });
  if (const Mbarrier::Use* const use = behind ? behind : before) {
    m.how = behind ? How::arrives_after : How::arrives_first;
    m.at = short_line(places.at(places.of(use->who)));
    if (behind && c.earlier.write && !c.later.write && waits_at(*at, mine, places) &&
        !answers(block, mine, theirs, places))
      m.how = How::refills;
  } else if (they_use && i_use) {
    m.how = How::one_way;
  }
  return m;
}

IssuerWait issuer_wait_of(const Block& block, const Conflict& c) {
  IssuerWait result;
  const std::uint32_t local = order::local_row(c.earlier.row);
  const auto part = static_cast<order::Part>(local >> order::warp_bits);
  const std::uint32_t warp = local & (order::lanes - 1);
  const Block* const issuer = block_of_row(block, c.earlier.row);
  if (!issuer || part == order::Part::thread || part > order::Part::multiply) return result;
  const order::Snapshot& known = issuer->order.view(warp, c.earlier.lane);
  if (part == order::Part::multiply) {
    if (known.knows(c.earlier.row, c.earlier.lane, c.earlier.epoch))
      result.how = IssuerWait::How::waited;
    return result;
  }
  if (known.waited[static_cast<std::uint32_t>(part) - 1] >= c.earlier.epoch) {
    result.how = IssuerWait::How::waited;
    return result;
  }
  result.needed = issuer->order.allowance(warp, c.earlier.lane, part, c.earlier.epoch);
  result.allowed = issuer->order.last_allowed(warp, c.earlier.lane, part);
  const std::uint32_t then =
      issuer->order.allowance_then(warp, c.earlier.lane, part, c.earlier.epoch);
  if (then != order::CopyGroups::all) result.needed = then;
  result.how = result.needed == order::CopyGroups::all ? IssuerWait::How::not_committed
               : result.allowed != order::Block::never_waited && result.allowed > result.needed
                   ? IssuerWait::How::allowed_too_many
                   : IssuerWait::How::not_waited;
  return result;
}

}  // namespace inflight::check::races
