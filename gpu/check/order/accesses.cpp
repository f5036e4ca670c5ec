// Fences and strong accesses: release and acquire patterns.
#include <algorithm>

#include "gpu/check/order/block.hpp"

namespace inflight::order {
namespace {

Patterns editable(const View& v) { return v.patterns ? *v.patterns : Patterns{}; }
void keep(View& v, Patterns&& p) {
  v.patterns = p.empty() ? nullptr : std::make_shared<const Patterns>(std::move(p));
}
constexpr std::size_t index(Scope s) { return static_cast<std::size_t>(s); }

// Joins each scope. All scopes mostly hold the same, so a result is reused where possible.
void join(Release::ByScope& into, const Release::ByScope& more) {
  Knowledge before;
  for (std::uint32_t s = 0; s < scope_count; ++s) {
    const bool again = s > 0 && into[s].same(before) && more[s].same(more[s - 1]);
    before = into[s];
    if (again)
      into[s] = into[s - 1];
    else
      into[s].join(more[s]);
  }
}

}  // namespace

void Halves::add(const Patterns& patterns, Row block, std::uint32_t warp, Mask mask,
                 Knowledge& met) {
  for (std::uint32_t s = 0; s < scope_count; ++s)
    if (const auto& f = patterns.fences[s]) {
      fenced_[s].join(f->before.published(block, warp, mask, f->epoch));
      any_fence_ = true;
    }
  for (const Patterns::Released& own : patterns.released) {
    for (std::size_t s = 0; s <= index(own.scope); ++s) fenced_[s].join(own.knowledge);
    any_fence_ = true;
  }
  for (const Patterns::Read& read : patterns.reads) {
    auto at = std::find_if(reads_.begin(), reads_.end(),
                           [&](const Patterns::Read& r) { return r.location == read.location; });
    if (at == reads_.end() && reads_.size() == Patterns::kept) {
      met.join(read.gets[index(Scope::sys)]);
      continue;
    }
    if (at == reads_.end()) at = reads_.insert(at, {read.location, {}});
    for (std::uint32_t s = 0; s < scope_count; ++s) at->gets[s].join(read.gets[s]);
  }
}

std::shared_ptr<const Patterns> Halves::take() {
  if (!any_fence_ && reads_.empty()) return nullptr;
  auto all = std::make_shared<Patterns>();
  for (std::uint32_t s = 0; any_fence_ && s < scope_count; ++s) {
    if (fenced_[s].order.empty() && fenced_[s].loose.empty()) continue;
    Patterns::Fence fence;
    fence.before.known = std::move(fenced_[s]);
    all->fences[s] = std::make_shared<const Patterns::Fence>(std::move(fence));
  }
  all->reads = std::move(reads_);
  *this = {};
  return all;
}

void Block::fence(std::uint32_t warp, Mask mask, Order order, Scope scope) {
  const Epoch epoch = epoch_++;
  isolated_ &= scope == Scope::cta;
  if (releases(order) && scope != Scope::cta) warps_[warp].unfenced &= ~mask;
  warps_[warp].views.change(mask, [&](View& v, Mask) {
    Patterns p = editable(v);
    if (acquires(order)) {
      for (const Patterns::Read& r : p.reads) v.known.join(r.gets[index(scope)]);
      std::erase_if(p.reads, [&](const Patterns::Read& r) { return r.is_taken(scope); });
    }
    if (releases(order)) {
      const auto fence = std::make_shared<const Patterns::Fence>(Patterns::Fence{v, epoch});
      std::fill_n(p.fences.begin(), index(scope) + 1, fence);
    }
    keep(v, std::move(p));
  });
}

void Block::proxy_fence(std::uint32_t warp, Mask mask, bool shared, bool global) {
  const Epoch epoch = epoch_++;
  const bool wanted[space_count] = {shared, global};
  warps_[warp].views.change(mask, [&](View& v, Mask) {
    v.merge_together();
    for (std::uint32_t s = 0; s < space_count; ++s) {
      if (!wanted[s]) continue;
      v.known.fenced[s].join(v.known.order);
      v.fenced_own[s] = epoch;
      v.fenced_copies[s] = v.waited[0];
    }
  });
}

void Block::acquire(View& view, const Release& from, Order order, Scope scope,
                    std::uint64_t location) {
  const auto of_location = [&](const Patterns::Read& r) { return r.location == location; };
  const bool has_read = view.patterns && std::ranges::any_of(view.patterns->reads, of_location);
  if (acquires(order) && !has_read) {
    const std::uint64_t version = from.version();
    if (view.acquired == version && view.acquired_by >= scope) return;
    view.acquired = version, view.acquired_by = scope;
    if (const Knowledge* const alike = from.acquired_alike(place_, scope))
      return view.known.join(*alike);
  }
  const Release::ByScope got = from.acquired(place_);
  const Knowledge& all = got[index(Scope::sys)];
  // No later fence can bring more.
  const bool whole = acquires(order) && got[index(scope)].same(all);
  if (!has_read && (whole || all.order.empty())) {
    if (acquires(order))
      view.known.join(got[index(scope)]);
    else
      view.known.loose.join(all.loose);
    return;
  }
  Patterns p = editable(view);
  auto read = std::ranges::find_if(p.reads, of_location);
  if (read == p.reads.end()) {
    if (p.reads.size() == Patterns::kept) {
      view.known.join(p.reads.front().gets[index(Scope::sys)]);
      p.reads.erase(p.reads.begin());
    }
    read = p.reads.insert(p.reads.end(), {location, {}});
  }
  join(read->gets, got);
  if (acquires(order)) {
    view.known.join(read->gets[index(scope)]);
    if (read->is_taken(scope)) p.reads.erase(read);
  }
  view.known.loose.join(all.loose);
  keep(view, std::move(p));
}

Release Block::release(View& view, std::uint32_t warp, unsigned lane, std::uint64_t location,
                       Order order, Scope scope) {
  const Mask mask = Mask{1} << lane;
  Release r;
  const Knowledge now = view.published(row_, warp, mask, epoch_);
  if (view.patterns) {
    const Patterns::Fence* last = nullptr;
    for (std::uint32_t s = scope_count; s-- > 0;) {
      const Patterns::Fence* f = view.patterns->fences[s].get();
      if (!f || f == last) continue;
      r.add(place_, static_cast<Scope>(s), f->before.published(row_, warp, mask, f->epoch));
      last = f;
    }
    for (const Patterns::Released& own : view.patterns->released)
      if (own.location == location) r.add(place_, own.scope, own.knowledge);
  }
  if (releases(order)) {
    r.add(place_, scope, now);
    Patterns p = editable(view);
    std::erase_if(p.released, [&](const Patterns::Released& own) {
      return own.location == location && own.scope <= scope;
    });
    if (p.released.size() == Patterns::kept) {
      const Patterns::Released& old = p.released.front();
      for (std::size_t s = 0; s <= index(old.scope); ++s) {
        Patterns::Fence f = p.fences[s] ? *p.fences[s] : Patterns::Fence{};
        f.before.known.join(old.knowledge);
        p.fences[s] = std::make_shared<const Patterns::Fence>(std::move(f));
      }
      p.released.erase(p.released.begin());
    }
    p.released.push_back({location, scope, now});
    keep(view, std::move(p));
  }
  r.add_loose(now.loose);
  return r;
}

std::uint64_t Block::strong_write(std::uint32_t warp, unsigned lane, std::uint64_t address,
                                  Location& at, Order order, Scope scope) {
  std::uint64_t number = 0;
  isolated_ &= order == Order::relaxed;
  const View& view = warps_[warp].views.of(lane);
  if (order == Order::relaxed && !view.patterns && view.only_together()) {
    const Row row = warp_row(row_, Part::thread, warp);
    return at.relaxed_write(place_, scope, view, row, Mask{1} << lane, epoch_++);
  }
  warps_[warp].views.change(Mask{1} << lane, [&](View& v, Mask) {
    number = at.write(place_, scope, release(v, warp, lane, address, order, scope), false);
  });
  ++epoch_;
  return number;
}

void Block::strong_reads(std::uint32_t warp, Mask mask, std::uint64_t address, const Location& at,
                         Order order, Scope scope, std::uint64_t saw) {
  Release then;
  const Release* seen = at.seen(place_, scope, saw, then);
  const bool is_noted = saw != Location::latest && at.is_noted(saw);
  const Release* any = seen ? seen : is_noted ? &then : at.last();
  static const Release nothing = [] {
    Release empty;
    empty.version();  // sets it now, so that no host thread sets it later
    return empty;
  }();
  isolated_ &= order == Order::relaxed;
  observed_ = observed_ || at.is_written_outside(place_);
  if (order == Order::relaxed && (!seen || seen->empty())) return acquire_loose(warp, mask, any);
  warps_[warp].views.change(mask, [&](View& v, Mask) {
    // An acquire operation also completes the pattern of an earlier read.
    acquire(v, seen ? *seen : nothing, order, scope, address);
    if (any && any != seen) any->acquire_loose(v.known);
  });
}

// Joins what relaxed accesses alone publish into `loose`. Mostly the lanes know it already.
void Block::acquire_loose(std::uint32_t warp, Mask mask, const Release* from) {
  if (!from) return;
  const Row row = warp_row(row_, Part::thread, warp);
  Views& views = warps_[warp].views;
  Mask to = 0;
  for (const Views::Group& g : views.groups())
    if (const Mask part = g.lanes & mask; part && !from->is_known(g.view->known.loose, row, part))
      to |= part;
  if (to) views.change(to, [&](View& v, Mask) { from->acquire_loose(v.known); });
}

void Block::observed(std::uint32_t warp, const Observation& write) {
  observed_ = observed_ || launch_of(write.row) != launch_of(row_);
  const Mask lane = Mask{1} << write.location_lane;
  Mask news = 0;
  for (const Views::Group& g : warps_[warp].views.groups())
    if (!g.view->known.order.covers(write.location_row, lane, write.epoch)) news |= g.lanes;
  if (news &= write.readers)
    warps_[warp].views.change(
        news, [&](View& v, Mask) { v.known.raise(write.location_row, lane, write.epoch); });
}

std::uint64_t Block::update(std::uint32_t warp, unsigned lane, std::uint64_t address, Location& at,
                            Order order, Scope scope) {
  const bool chained = at.seen(place_, scope) != nullptr;
  strong_read(warp, lane, address, at, order, scope);
  std::uint64_t number = 0;
  warps_[warp].views.change(Mask{1} << lane, [&](View& v, Mask) {
    number = at.write(place_, scope, release(v, warp, lane, address, order, scope), chained);
  });
  ++epoch_;
  return number;
}

std::uint64_t Block::ticket(std::uint32_t warp, unsigned lane, std::uint64_t address, Location& at,
                            Scope scope) {
  const bool chained = at.seen(place_, scope) != nullptr;
  strong_read(warp, lane, address, at, Order::acquire, scope);
  std::uint64_t number = 0;
  warps_[warp].views.change(Mask{1} << lane, [&](View& v, Mask) {
    Release r = release(v, warp, lane, address, Order::relaxed, scope);
    if ((warps_[warp].unfenced >> lane & 1) == 0) {
      Snapshot own = v;
      own.known = {};
      own.together = {};
      r.add(place_, scope, own.published(row_, warp, Mask{1} << lane, epoch_));
    }
    number = at.write(place_, scope, std::move(r), chained);
  });
  ++epoch_;
  return number;
}

}  // namespace inflight::order
