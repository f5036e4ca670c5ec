// Copies and mbarriers: which threads may know that a copy is complete.
#include <algorithm>

#include "gpu/check/order/block.hpp"

namespace inflight::order {

void Block::commit(std::uint32_t warp, Mask mask, bool bulk) {
  warps_[warp].groups[bulk].commit(mask, epoch_++);
}

void Block::note_allowed(Warp& warp, Mask mask, Part part, std::uint32_t allowed) {
  if (!warp.allowed) {
    warp.allowed = std::make_unique<std::array<std::array<std::uint32_t, lanes>, copy_parts>>();
    for (auto& p : *warp.allowed) p.fill(never_waited);
  }
  auto& of_part = (*warp.allowed)[static_cast<std::size_t>(part) - 1];
  for (; mask != 0; mask &= mask - 1) of_part[std::countr_zero(mask)] = allowed;
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
  return allowed ? (*allowed)[static_cast<std::size_t>(part) - 1][lane] : never_waited;
}

void Block::init(Mbarrier& m) {
  m = Mbarrier();
  m.row_ = mbarrier_row(row_, mbarriers_);
  m.lane_ = mbarriers_++ % lanes;
}

Knowledge Arrivals::take() {
  Knowledge all = std::move(known_.front());
  for (std::size_t i = 1; i < known_.size(); ++i) all.join(known_[i]);
  Knowledge own;
  own.order = own.loose = Clock(own_.order);
  for (std::uint32_t s = 0; s < space_count; ++s) own.fenced[s] = Clock(own_.fenced[s]);
  all.join(own);
  known_.clear();
  own_.order.clear();
  for (Raises& each : own_.fenced) each.clear();
  return all;
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
      if (each.arrivals.is_large()) arrived_.add(place, scope, each.arrivals.take());
      return each.arrivals;
    }
  return coming_.emplace_back(Coming{place, scope, {}}).arrivals;
}

void Mbarrier::join_arrivals() {
  for (Coming& each : coming_)
    if (!each.arrivals.empty()) arrived_.add(each.place, each.scope, each.arrivals.take());
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

LaterArrival Block::arrival_with_copies(std::uint32_t warp, Mask mask) {
  LaterArrival later;
  later.block_ = row_;
  later.warp_ = warp;
  later.epoch_ = epoch_++;
  for (const Views::Group& g : warps_[warp].views.groups())
    if (g.lanes & mask) later.groups_.push_back(g);
  return later;
}

Knowledge Block::issue(std::uint32_t warp, unsigned lane) {
  return view(warp, lane).published(row_, warp, Mask{1} << lane, epoch_++);
}

void Block::arrive(Mbarrier& m, const LaterArrival& later, Mask lanes, const Place& issuer,
                   Scope scope) {
  Arrivals& coming = m.coming(issuer, narrowest(scope, issuer));
  for (const Views::Group& g : later.groups_)
    if (const Mask part = g.lanes & lanes)
      coming.add(*g.view, later.block_, later.warp_, part, later.epoch_);
  coming.raise(warp_row(later.block_, Part::group_copy, later.warp_), lanes, later.epoch_);
}

void Block::complete(Mbarrier& m) {
  m.join_arrivals();
  m.arrived_.unite();
  m.arrived_.raise_everywhere(m.row_, Mask{1} << m.lane_, epoch_++);
  m.completed_ = m.arrived_;
  m.observed_ = {};
}

void Block::observe(Mbarrier& m, std::uint32_t warp, Mask mask, Order order, Scope scope) {
  Mbarrier::Observed& last = m.observed_;
  if (last.by != this || last.order != order || last.scope != scope)
    last = {this, order, scope, {}};
  Views& views = warps_[warp].views;
  std::shared_ptr<const View> others = last.change.to;
  const auto get = [&](View& v, Mask) {
    const std::uint64_t key = std::uint64_t{1} << 63 | m.row_ << warp_bits | m.lane_;  // no address
    acquire(v, m.completed_, order, scope, key);
  };
  views.change(mask, get, &last.change);
  // Threads that waited for one phase mostly know the same.
  views.unite(others);
}

}  // namespace inflight::order
