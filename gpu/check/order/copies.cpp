// Copies and mbarriers: which threads may know that a copy is complete.
#include <algorithm>

#include "gpu/check/order/block.hpp"

namespace inflight::order {

void Block::commit(std::uint32_t warp, Mask mask, bool bulk) {
  warps_[warp].groups[bulk].commit(mask, epoch_++);
}

void Block::note_allowed(Warp& warp, Mask mask, Part part, std::uint32_t allowed) {
  if (!warp.allowed)
    warp.allowed = std::make_unique<std::array<std::array<Warp::Allowed, lanes>, copy_parts>>();
  auto& of_part = (*warp.allowed)[static_cast<std::size_t>(part) - 1];
  for (; mask != 0; mask &= mask - 1) of_part[std::countr_zero(mask)] = {allowed, epoch_};
}

void Block::wait_group(std::uint32_t warp, Mask mask, std::uint32_t allowed) {
  Warp& w = warps_[warp];
  note_allowed(w, mask, Part::group_copy, allowed);
  w.groups[0].wait(mask, allowed, [&](Mask lanes, Epoch epoch) {
    w.views.change(lanes, [&](View& v, Mask) { v.waited[0] = std::max(v.waited[0], epoch); });
  });
}

void Block::wait_all(std::uint32_t warp, Mask mask) {
  Warp& w = warps_[warp];
  note_allowed(w, mask, Part::group_copy, 0);
  const Epoch epoch = epoch_++;
  w.groups[0].forget(mask);
  w.views.change(mask, [&](View& v, Mask) { v.waited[0] = epoch; });
}

void Block::wait_bulk(std::uint32_t warp, Mask mask, std::uint32_t allowed, bool reads_only) {
  Warp& w = warps_[warp];
  note_allowed(w, mask, Part::bulk_read, allowed);
  if (!reads_only) note_allowed(w, mask, Part::bulk_write, allowed);
  const auto know = [&](Mask lanes, Epoch epoch) {
    w.views.change(lanes, [&](View& v, Mask) {
      v.waited[1] = std::max(v.waited[1], epoch);
      if (!reads_only) v.waited[2] = std::max(v.waited[2], epoch);
    });
  };
  if (!reads_only) return w.groups[1].wait(mask, allowed, know);
  CopyGroups groups = w.groups[1];  // a copy: a later wait must still cover the writes
  groups.wait(mask, allowed, know);
}

void Block::know(std::uint32_t warp, Mask mask, Row row, Mask actors, Epoch epoch) {
  warps_[warp].views.change(mask, [&](View& v, Mask) { v.known.raise(row, actors, epoch); });
}

std::uint32_t Block::allowance(std::uint32_t warp, unsigned lane, Part part, Epoch copy) const {
  return warps_[warp].groups[part != Part::group_copy].allowance(lane, copy);
}

std::uint32_t Block::last_allowed(std::uint32_t warp, unsigned lane, Part part) const {
  const auto& allowed = warps_[warp].allowed;
  return allowed ? (*allowed)[static_cast<std::size_t>(part) - 1][lane].groups : never_waited;
}

std::uint32_t Block::allowance_then(std::uint32_t warp, unsigned lane, Part part,
                                    Epoch copy) const {
  const Warp& w = warps_[warp];
  if (!w.allowed) return CopyGroups::all;
  const Epoch at = (*w.allowed)[static_cast<std::size_t>(part) - 1][lane].at;
  return w.groups[part != Part::group_copy].allowance(lane, copy, at);
}

void Block::init(Mbarrier& m) {
  m = Mbarrier();
  m.row_ = mbarrier_row(row_, mbarriers_);
  m.lane_ = mbarriers_++ % lanes;
}

void Arrivals::add_to(Knowledge& k) {
  for (const Knowledge& each : known_) k.join(each);
  const bool strict = k.loose.same(k.order);
  k.order.raise(own_.order);
  if (strict)
    k.loose = k.order;
  else
    k.loose.raise(own_.order);
  for (std::uint32_t s = 0; s < space_count; ++s) k.fenced[s].raise(own_.fenced[s]);
}

void Arrivals::clear() {
  known_.clear();
  own_.order.clear();
  for (Raises& each : own_.fenced) each.clear();
}

namespace {

// The narrowest scope with the same threads: a cluster of one block is that block. So arrivals of
// both scopes are joined together.
Scope narrowest(Scope scope, const Place& of) {
  return scope == Scope::cluster && !of.in_cluster() ? Scope::cta : scope;
}

}  // namespace

Arrivals& Mbarrier::coming(const Place& place, Scope scope) {
  for (Coming& each : coming_)
    if (each.place.block == place.block && each.scope == scope) {
      if (each.arrivals.is_large()) each.add_to(arrived_);
      return each.arrivals;
    }
  return coming_.emplace_back(Coming{place, scope, {}}).arrivals;
}

void Mbarrier::Coming::add_to(Release& release) {
  release.add(place, scope, arrivals);
  arrivals.clear();
}

// Raises the mbarrier's own actor along with the arrivals, for the threads that they reach.
void Mbarrier::join_arrivals(Epoch now) {
  for (Coming& each : coming_) {
    if (each.arrivals.empty()) continue;
    each.arrivals.raise(row_, Mask{1} << lane_, now);
    each.add_to(arrived_);
  }
}

void Block::arrive(Mbarrier& m, std::uint32_t warp, Mask mask, Order order, Scope scope) {
  for (const Views::Group& g : warps_[warp].views.groups()) {
    const Mask part = g.lanes & mask;
    if (part == 0) continue;
    if (g.view->patterns)
      for (std::uint32_t s = 0; s < scope_count; ++s)
        if (const auto& f = g.view->patterns->fences[s])
          m.arrived_.add(place_, static_cast<Scope>(s),
                         f->before.published(row_, warp, part, f->epoch));
    if (releases(order))
      m.coming(place_, narrowest(scope, place_)).add(*g.view, row_, warp, part, epoch_);
    else
      m.arrived_.add_loose(g.view->published(row_, warp, part, epoch_).loose);
  }
  ++epoch_;
}

LaterArrival Block::arrival_with_copies(std::uint32_t warp, Mask mask, Part of) {
  LaterArrival later;
  later.of_ = of;
  later.block_ = row_;
  later.warp_ = warp;
  later.epoch_ = epoch_++;
  for (const Views::Group& g : warps_[warp].views.groups()) {
    if ((g.lanes & mask) == 0) continue;
    if (later.group_.view)
      later.more_.push_back(g);
    else
      later.group_ = g;
  }
  return later;
}

Knowledge Block::issue(std::uint32_t warp, unsigned lane) {
  return view(warp, lane).published(row_, warp, Mask{1} << lane, epoch_++);
}

void Block::arrive(Mbarrier& m, const LaterArrival& later, Mask lanes, const Place& issuer,
                   Scope scope) {
  Arrivals& coming = m.coming(issuer, narrowest(scope, issuer));
  const auto add = [&](const Views::Group& g) {
    if (const Mask part = g.lanes & lanes)
      coming.add(*g.view, later.block_, later.warp_, part, later.epoch_);
  };
  add(later.group_);
  for (const Views::Group& g : later.more_) add(g);
  coming.raise(warp_row(later.block_, later.of_, later.warp_), lanes, later.epoch_);
}

void Block::complete(Mbarrier& m) {
  const Epoch now = epoch_++;
  m.join_arrivals(now);
  m.arrived_.unite();
  m.arrived_.raise_everywhere(m.row_, Mask{1} << m.lane_, now);
  m.completed_ = m.arrived_;
  m.observed_ = {};
}

void Block::observe(Mbarrier& m, std::uint32_t warp, Mask mask, Order order, Scope scope) {
  Mbarrier::Observed& last = m.observed_;
  if (last.by != this || last.order != order || last.scope != scope)
    last = {this, order, scope, {}};
  Views& views = warps_[warp].views;
  const auto get = [&](View& v, Mask) {
    const std::uint64_t key = std::uint64_t{1} << 63 | m.row_ << warp_bits | m.lane_;  // no address
    acquire(v, m.completed_, order, scope, key);
  };
  views.change(mask, get, &last.change);
  // Threads that waited for one phase mostly know the same.
  views.unite(last.change.to);
}

}  // namespace inflight::order
