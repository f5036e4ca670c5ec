// What a group of a warp's lanes knows now, and the fences and strong accesses that may still
// become part of a synchronisation pattern.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "gpu/check/order/release.hpp"

namespace inflight::order {

// Halves of release and acquire patterns (a fence before a strong write, a strong read before a
// fence). A thread keeps `kept` locations. One that is dropped counts as fenced, which can hide a
// conflict but never report a false one.
struct Patterns {
  static constexpr std::size_t kept = 8;
  struct Fence {
    Snapshot before;
    Epoch epoch = 0;
  };
  struct Released {  // by a release operation on the location
    std::uint64_t location;
    Scope scope;
    Knowledge knowledge;
  };
  struct Read {  // of a strong read: what an acquire operation or fence of each scope gets
    std::uint64_t location;
    std::array<Knowledge, scope_count> gets;
    // No wider scope gives more than this one.
    bool is_taken(Scope scope) const {
      return gets[static_cast<std::size_t>(scope)].same(gets[static_cast<std::size_t>(Scope::sys)]);
    }
  };
  std::array<std::shared_ptr<const Fence>, scope_count> fences;  // by scope: the last so wide
  std::vector<Released> released;
  std::vector<Read> reads;

  bool empty() const { return !fences[0] && released.empty() && reads.empty(); }
};

// The pattern halves of all threads of a barrier. After it, each thread has all of them: a fence
// before the barrier and another thread's strong write after it count as a release pattern. A
// strong read before the barrier and a fence after it count as an acquire pattern. Chips behave so,
// and programs rely on it.
class Halves {
 public:
  // A half for which there is no room is added to `met` as a complete pattern.
  void add(const Patterns& patterns, Row block, std::uint32_t warp, Mask mask, Knowledge& met);
  std::shared_ptr<const Patterns> take();  // null: there are none

 private:
  std::array<Knowledge, scope_count> fenced_;
  bool any_fence_ = false;
  std::vector<Patterns::Read> reads_;
};

struct View : Snapshot {
  std::shared_ptr<const Patterns> patterns;  // often null
  // What it acquired last. A thread that acquires again mostly gets the same.
  std::uint64_t acquired = 0;  // Release::version()
  Scope acquired_by = Scope::cta;
  bool same(const View& o) const { return patterns == o.patterns && Snapshot::same(o); }
};

// The lanes of a warp, in groups that know the same.
class Views {
 public:
  struct Group {
    Mask lanes;
    std::shared_ptr<const View> view;
  };
  void begin(Mask live, std::shared_ptr<const View> view) {
    groups_.assign(1, {live, std::move(view)});
  }
  const std::vector<Group>& groups() const { return groups_; }
  const View& of(unsigned lane) const {
    for (const Group& g : groups_)
      if (g.lanes >> lane & 1) return *g.view;
    return *groups_.front().view;
  }
  // A view before and after a change. Both are the same object if nothing changed.
  struct Change {
    std::shared_ptr<const View> from, to;
  };
  // Applies f(View&, lanes) to each group of lanes in `mask`. If f's effect does not depend on the
  // lanes, `last` may hold the last change by f, of any warp, so that a shared view changes once.
  template <class F>
  void change(Mask mask, F&& f, Change* last = nullptr) {
    const std::size_t count = groups_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Mask part = groups_[i].lanes & mask;
      if (part == 0) continue;
      const std::shared_ptr<const View>& from = groups_[i].view;
      if (part == groups_[i].lanes && from.use_count() == 1) {  // no other holder
        View& own = const_cast<View&>(*from);
        f(own, part);
        own.changed();
        continue;
      }
      std::shared_ptr<const View> to =
          last && last->from == from ? last->to : changed(from, part, f);
      if (last && last->from != from) *last = {from, to};
      if (to == from) continue;
      if (part != groups_[i].lanes) {
        groups_[i].lanes &= ~part;
        groups_.push_back({part, std::move(to)});
      } else {
        groups_[i].view = std::move(to);
      }
    }
  }
  // These lanes synchronise: each then knows what the others did up to the epoch. Returns false,
  // and changes nothing, if they are not one group or their view has more than a Together can hold.
  bool synchronise(Row row, Mask members, Epoch epoch) {
    for (Group& g : groups_) {
      if (g.lanes != members) continue;
      const Snapshot& known = *g.view;
      if (g.view->patterns || !known.only_together() || (known.together.lanes & ~members) != 0)
        return false;
      if (g.view.use_count() != 1) g.view = std::make_shared<const View>(*g.view);
      const_cast<View&>(*g.view).together = {row, members, epoch};
      return true;
    }
    return false;
  }
  // Merges groups that know the same. `shared` is a view that others already share, or null.
  void unite(const std::shared_ptr<const View>& shared) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (shared && groups_[i].view != shared && groups_[i].view->same(*shared))
        groups_[i].view = shared;
      for (std::size_t j = i + 1; j < groups_.size();)
        if (groups_[j].view->same(*groups_[i].view)) {
          groups_[i].lanes |= groups_[j].lanes;
          groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(j));
        } else {
          ++j;
        }
    }
  }

 private:
  template <class F>
  static std::shared_ptr<const View> changed(const std::shared_ptr<const View>& from, Mask lanes,
                                             F&& f) {
    auto view = std::make_shared<View>(*from);
    f(*view, lanes);
    if (view->same(*from)) return from;
    view->changed();
    return view;
  }
  std::vector<Group> groups_;
};

}  // namespace inflight::order
