// A block's initial state and its barriers.
#include <algorithm>
#include <bit>
#include <utility>

#include "gpu/check/order/block.hpp"

namespace inflight::order {

Block::Block(const Shape& shape, const Knowledge& start)
    : place_{shape.device,
             block_row(shape.launch, shape.block / shape.cluster_blocks * shape.cluster_blocks),
             block_row(shape.launch,
                       (shape.block / shape.cluster_blocks + 1) * shape.cluster_blocks),
             block_row(shape.launch, shape.block)},
      row_(place_.block),
      threads_(shape.threads),
      isolated_(!in_cluster()),
      warps_((shape.threads + lanes - 1) / lanes) {
  auto view = std::make_shared<View>();
  view->known = start;
  for (std::uint32_t w = 0; w < warps(); ++w) {
    const std::uint32_t here = std::min(lanes, threads_ - w * lanes);
    warps_[w].exists = warps_[w].live = here == lanes ? ~Mask{0} : (Mask{1} << here) - 1;
    warps_[w].views.begin(warps_[w].live, view);
  }
}

std::size_t Block::bytes() const {
  std::size_t sum = sizeof *this;
  const View* last = nullptr;
  for (const Warp& w : warps_) {
    sum += sizeof w + w.views.groups().capacity() * sizeof(Views::Group);
    for (const Views::Group& g : w.views.groups())
      if (g.view.get() != last) sum += sizeof(View), last = g.view.get();
  }
  return sum;
}

namespace {

// The view after a barrier. `all` includes what the thread itself published.
void after_barrier(View& view, const Knowledge& all,
                   const std::shared_ptr<const Patterns>& halves) {
  view.known = all;
  view.patterns = halves;  // its own are among them
  view.waited = {};
  view.together = {};
  view.fenced_own = view.fenced_copies = {};
}

}  // namespace

void Block::warp_sync(std::uint32_t warp, Mask members) {
  Views& views = warps_[warp].views;
  if (views.synchronise(warp_row(row_, Part::thread, warp), members, epoch_)) {
    ++epoch_;
    return;
  }
  Knowledge all;
  Halves halves;
  for (const Views::Group& g : views.groups())
    if (const Mask part = g.lanes & members) {
      all.join(g.view->published(row_, warp, part, epoch_));
      if (g.view->patterns) halves.add(*g.view->patterns, row_, warp, part, all);
    }
  ++epoch_;
  const auto taken = halves.take();
  views.change(members, [&](View& v, Mask) { after_barrier(v, all, taken); });
  views.unite(nullptr);
}

void Block::arrive(BarrierState& at, std::uint32_t warp, Mask mask, Order order) {
  for (const Views::Group& g : warps_[warp].views.groups()) {
    const Mask part = g.lanes & mask;
    if (part == 0) continue;
    const Knowledge k = g.view->published(row_, warp, part, epoch_);
    if (releases(order)) {
      at.arrived_.join(k);
      if (g.view->patterns) at.halves_.add(*g.view->patterns, row_, warp, part, at.arrived_);
    } else {
      at.arrived_.loose.join(k.loose);
      // A fence before a relaxed arrival is a release pattern.
      if (const auto* p = g.view->patterns.get(); p && p->fences[1]) {
        const Patterns::Fence& f = *p->fences[1];
        at.arrived_.join(f.before.published(row_, warp, part, f.epoch));
      }
    }
  }
  ++epoch_;
}

void Block::arrive_and_wait(BarrierState& at, std::uint32_t warp, Mask mask) {
  // complete() publishes the waiting threads' own accesses for all warps. They make none meanwhile.
  for (const Views::Group& g : warps_[warp].views.groups()) {
    const Mask part = g.lanes & mask;
    if (part == 0) continue;
    if (g.view == at.joined_) continue;
    // `together` names only lanes that wait here, and complete() publishes what those did.
    const bool common = g.view->only_together() && (g.view->together.lanes & ~part) == 0;
    if (common && !g.view->patterns) {
      at.join_late();
      at.joined_ = g.view;
      at.is_late_ = true;
      continue;
    }
    at.arrived_.join(g.view->known);
    g.view->add_own(at.arrived_, row_, warp, part);
    if (g.view->patterns) at.halves_.add(*g.view->patterns, row_, warp, part, at.arrived_);
  }
  at.waiting_.push_back({this, warp, mask});
}

View* BarrierState::only_view() const {
  if (waiting_.empty()) return nullptr;
  const auto view_of = [](const Waiting& w) -> const std::shared_ptr<const View>* {
    const std::vector<Views::Group>& groups = w.block->warps_[w.warp].views.groups();
    return groups.size() == 1 && (groups[0].lanes & ~w.mask) == 0 ? &groups[0].view : nullptr;
  };
  const std::shared_ptr<const View>* const first = view_of(waiting_.front());
  if (!first) return nullptr;
  const auto holders = static_cast<long>(waiting_.size()) + (joined_ == *first ? 1 : 0);
  if (first->use_count() != holders) return nullptr;
  for (const Waiting& w : waiting_)
    if (const auto* const view = view_of(w); !view || *view != *first) return nullptr;
  return const_cast<View*>(first->get());
}

void BarrierState::join_late() {
  if (!std::exchange(is_late_, false)) return;
  arrived_.join(joined_->known);
}

bool BarrierState::complete_alike() {
  if (!is_late_ || !arrived_.empty()) return false;
  Block& block = *waiting_.front().block;
  std::uint32_t count = 0;
  for (const Waiting& w : waiting_) {
    const std::vector<Views::Group>& groups = w.block->warps_[w.warp].views.groups();
    if (w.block != &block || groups.size() != 1 || groups[0].view != joined_) return false;
    count += w.mask == ~Mask{0} ? lanes : static_cast<unsigned>(std::popcount(w.mask));
  }
  if (count != block.threads_ || joined_.use_count() != static_cast<long>(waiting_.size()) + 1)
    return false;
  View& view = const_cast<View&>(*joined_);
  view.known.raise_range(warp_row(block.row_, Part::thread, 0), warp_bits, block.epoch_);
  if (!view.known.loose.same(view.known.order)) view.known.unite();
  view.together = {};
  view.changed();
  block.joined_ = block.epoch_++;
  waiting_.clear();
  joined_.reset();
  is_late_ = false;
  return true;
}

void BarrierState::complete() {
  if (complete_alike()) return;
  join_late();
  auto& threads = threads_;
  threads.clear();
  const auto of = [&](Block* block) -> std::uint32_t& {
    for (auto& [each, count] : threads)
      if (each == block) return count;
    return threads.emplace_back(block, 0).second;
  };
  for (const Waiting& w : waiting_)
    of(w.block) += w.mask == ~Mask{0} ? lanes : static_cast<unsigned>(std::popcount(w.mask));
  for (const auto& [block, count] : threads)
    if (count == block->threads_) {
      arrived_.raise_range(warp_row(block->row_, Part::thread, 0), warp_bits, block->epoch_);
      block->joined_ = block->epoch_;
    }
  for (const Waiting& w : waiting_)
    if (of(w.block) != w.block->threads_)
      arrived_.raise(warp_row(w.block->row_, Part::thread, w.warp), w.mask, w.block->epoch_);
  for (const auto& [block, count] : threads) ++block->epoch_;
  arrived_.unite();
  const auto halves = completed_halves_ = halves_.take();
  std::shared_ptr<const View> shared;
  Views::Change last;
  if (View* const common = only_view()) {
    after_barrier(*common, arrived_, halves);
    common->changed();
    waiting_.clear();
  }
  if (!waiting_.empty()) {  // most shared one view before, which is thus changed only once
    const Waiting& first = waiting_.front();
    auto view = std::make_shared<View>();
    after_barrier(*view, arrived_, halves);
    last = {first.block->warps_[first.warp].views.groups().front().view, std::move(view)};
  }
  for (const Waiting& w : waiting_) {
    Views& views = w.block->warps_[w.warp].views;
    views.change(
        w.mask, [&](View& v, Mask) { after_barrier(v, arrived_, halves); }, &last);
    views.unite(shared);
    if (views.groups().back().view != shared) shared = views.groups().back().view;
  }
  waiting_.clear();
  joined_.reset();
  completed_ = std::exchange(arrived_, {});
}

void Block::learn(std::uint32_t warp, Mask mask, const Knowledge& more) {
  isolated_ = false;
  observed_ = true;
  warps_[warp].views.change(mask, [&](View& v, Mask) { v.known.join(more); });
}

bool Block::learnt(const Knowledge& done, Knowledge& into) const {
  bool any = false;
  const View* last = nullptr;
  for (const Warp& warp : warps_)
    for (const Views::Group& group : warp.views.groups()) {
      if (group.view.get() == last) continue;
      last = group.view.get();
      if (done.includes(last->known)) continue;
      into.join(last->known);
      any = true;
    }
  return any;
}

void Block::wait(BarrierState& at, std::uint32_t warp, Mask mask, Order order) {
  warps_[warp].views.change(mask, [&](View& v, Mask part) {
    if (!acquires(order)) return v.known.loose.join(at.completed_.loose);
    v.known.join(at.completed_);
    Halves all;
    for (const Patterns* each : {v.patterns.get(), at.completed_halves_.get()})
      if (each) all.add(*each, row_, warp, part, v.known);
    v.patterns = all.take();
  });
}

}  // namespace inflight::order
