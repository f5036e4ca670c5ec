// Decides whether pairs are ordered: first for whole rows, then for single actors.
#include "gpu/check/shadow/judge.hpp"

#include <bit>

namespace inflight::shadow {

using namespace order;

bool Judge::one(const Record& then, unsigned lane, unsigned mine, bool fence) const {
  const Snapshot& k = *a_.knows;
  const Clock& fenced = k.known.fenced[space_];
  if (lane == mine && block_of(then.row) == block_of(a_.place.block)) {
    for (std::uint32_t p = 0; p <= copy_parts; ++p) {
      if (then.row != warp_row(a_.place.block, static_cast<Part>(p), a_.warp)) continue;
      const bool done =
          p == 0 || k.waited[p - 1] >= then.epoch || k.knows(then.row, lane, then.epoch);
      if (!done || !fence) return done;
      const Epoch own = p == 0 ? k.fenced_own[space_] : p == 1 ? k.fenced_copies[space_] : 0;
      return own >= then.epoch || fenced.at(then.row, lane) >= then.epoch;
    }
  }
  return k.knows(then.row, lane, then.epoch) && (!fence || fenced.at(then.row, lane) >= then.epoch);
}

bool Judge::known(const Record& then, const Record& now, ByteMask part, bool fence) const {
  const Snapshot& k = *a_.knows;
  const auto covered = [&](Mask lanes) {
    return (k.together.covers(then.row, lanes, then.epoch) ||
            k.covers(a_.place.block, then.row, lanes, then.epoch)) &&
           (!fence || k.known.fenced[space_].covers(then.row, lanes, then.epoch));
  };
  if (covered(then.lanes)) return true;
  if (const Mask here = then.lanes_in(part); here != then.lanes && covered(here)) return true;
  // Only the warp's own program order and waits can still order them.
  constexpr Row parts = Row{3} << warp_bits;
  if ((then.row & ~parts) != warp_row(a_.place.block, Part::thread, a_.warp)) return false;
  for (std::uint32_t b = 0; part.any(); part = part.without(then.like(b) & now.like(b))) {
    b = part.first();
    const Mask mine = a_.issuer < 0 ? now.actors_of(b) : Mask{1} << a_.issuer;
    for (Mask t = then.actors_of(b); t != 0; t &= t - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(t));
      // All actors but the lane itself know the same of it.
      if (const Mask others = mine & ~(t & -t);
          others != 0 && !one(then, lane, std::countr_zero(others), fence))
        return false;
      if ((mine >> lane & 1) != 0 && !one(then, lane, lane, fence)) return false;
    }
  }
  return true;
}

ByteMask Judge::written_loudly(const Record& now, ByteMask part) const {
  ByteMask loud = part;
  for (ByteMask left = part; left.any();) {
    const std::uint32_t byte = left.first();
    const ByteMask same = now.like(byte);
    if ((now.actors_of(byte) & ~a_.silent) == 0) loud = loud.without(same);
    left = left.without(same);
  }
  return loud;
}

namespace {

unsigned last_of(Mask lanes) { return 31u - static_cast<unsigned>(std::countl_zero(lanes)); }

}  // namespace

LocationActor Judge::location_of(const Record& write, std::uint32_t byte) const {
  const int start = write.together ? write.base : write.base + write.index_of(byte) * write.stride;
  return {write.row, last_of(write.actors_of(byte)), line_ + static_cast<std::uint64_t>(start)};
}

ByteMask Judge::observed(const Record& then, const Record& now, ByteMask part) const {
  const Snapshot& k = *a_.knows;
  const Clock* const fenced = needs_fence(then, now) ? &k.known.fenced[space_] : nullptr;
  ByteMask found;
  for (ByteMask left = part; left.any();) {
    const std::uint32_t byte = left.first();
    const ByteMask same = left & then.like(byte);
    const LocationActor at = location_of(then, byte);
    const Mask lane = Mask{1} << at.lane;
    if (k.known.order.covers(at.row, lane, then.epoch) &&
        (!fenced || fenced->covers(at.row, lane, then.epoch)))
      found = found | same;
    left = left.without(same);
  }
  return found;
}

bool Judge::follows(const Record& update, const Record& now, ByteMask part) const {
  if (ordered(update, now, part)) return true;
  if (!update.together) return false;
  Record one = update, mine = now;
  mine.together = true;
  for (Mask m = now.lanes_in(part); m != 0; m &= m - 1) {
    mine.lanes = m & -m;
    bool any = false;
    for (Mask u = update.lanes; u != 0 && !any; u &= u - 1) {
      one.lanes = u & -u;
      any = ordered(one, mine, part);
    }
    if (!any) return false;
  }
  return true;
}

void Judge::observe(const Record& then, const Record& now, ByteMask part) const {
  for (ByteMask left = part; left.any();) {
    const std::uint32_t byte = left.first();
    const ByteMask same = left & then.like(byte) & now.like(byte);
    const LocationActor at = location_of(then, byte);
    a_.observes->push_back({now.actors_of(byte), then.row, last_of(then.actors_of(byte)),
                            then.epoch, at.row, at.lane});
    left = left.without(same);
  }
}

bool Judge::morally_strong(const Record& then, const Record& now) const {
  if (!then.strong || !now.strong || !then.may_be_same_elements(now)) return false;
  const Row theirs = then.row >> row_bits << row_bits;
  Scope between = Scope::gpu;
  if (theirs == a_.place.block)
    between = Scope::cta;
  else if (theirs >= a_.place.cluster && theirs < a_.place.cluster_end)
    between = Scope::cluster;
  const auto scope = static_cast<std::uint8_t>(between);
  return then.scope >= scope && now.scope >= scope;
}

Conflict Judge::explain(const Record& then, const Record& now, ByteMask part, bool fence) const {
  const auto side = [](const Record& r, unsigned lane, Mask lanes) {
    return Side{r.row,   lane,     r.epoch,
                r.place, r.write,  r.strong,
                r.async, r.update, static_cast<Scope>(r.scope),
                lanes};
  };
  Conflict c;
  for (std::uint32_t b = 0; part.any(); part = part.without(then.like(b) & now.like(b))) {
    b = part.first();
    for (Mask t = then.actors_of(b); t != 0; t &= t - 1)
      for (Mask m = now.actors_of(b); m != 0; m &= m - 1) {
        const unsigned lane = std::countr_zero(t), other = std::countr_zero(m);
        const unsigned mine = thread_of(other);
        const bool in_order = one(then, lane, mine, fence);
        if (in_order && !is_unseen(then)) continue;
        c.earlier = side(then, lane, then.actors_of(b));
        c.later = side(now, other, now.actors_of(b));
        c.address = b;
        c.bytes = part.run();
        const std::uint32_t part = local_row(then.row) >> warp_bits;
        const bool copy = part > 0;
        const bool own = copy && part <= copy_parts && lane == mine &&
                         then.row == warp_row(a_.place.block, static_cast<Part>(part), a_.warp);
        if (in_order) {
          c.why = Why::by_texture;
        } else if (fence && one(then, lane, mine, false)) {
          c.why = Why::proxy_fence;
        } else if (own) {
          c.why = Why::not_waited;
          if (!a_.block) return c;
          const Part p = static_cast<Part>(part);
          c.needed = a_.block->allowance(a_.warp, lane, p, then.epoch);
          c.allowed = a_.block->last_allowed(a_.warp, lane, p);
          if (c.needed == CopyGroups::all)
            c.why = Why::not_committed;
          else if (c.allowed != Block::never_waited && c.allowed > c.needed)
            c.why = Why::allowed_too_many;
        } else if (a_.knows->known.loose.at(then.row, lane) >= then.epoch) {
          c.why = Why::weak_edge;
        } else {
          c.why = copy ? Why::not_observed : Why::no_edge;
        }
        return c;
      }
  }
  return c;
}

}  // namespace inflight::shadow
