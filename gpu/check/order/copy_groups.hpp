// The copy groups that a warp's lanes have committed, newest last, to find the copies that a wait
// covers. A commit is kept until each lane that made it has waited for it.
#pragma once
#include <array>
#include <bit>
#include <vector>

#include "gpu/check/order/actor.hpp"

namespace inflight::order {

class CopyGroups {
 public:
  static constexpr std::uint32_t all = 0xffffffff;  // "allowed" of a wait that waits for nothing

  void commit(Mask mask, Epoch epoch) { commits_.push_back({epoch, mask, mask}); }

  // Calls f(lanes, epoch) for lanes whose copies up to `epoch` are complete once all but their
  // `allowed` newest groups are.
  template <class F>
  void wait(Mask mask, std::uint32_t allowed, F&& f) {
    std::array<std::uint32_t, lanes> newer{};
    Mask left = mask;
    for (auto c = commits_.rbegin(); c != commits_.rend() && left != 0; ++c) {
      Mask found = 0;
      for (Mask m = c->lanes & left; m != 0; m &= m - 1) {
        const int l = std::countr_zero(m);
        if (newer[l]++ == allowed) found |= Mask{1} << l;
      }
      if (found == 0) continue;
      left &= ~found;
      f(found, c->epoch);
      for (auto old = c; old != commits_.rend(); ++old) old->open &= ~found;
    }
    std::erase_if(commits_, [](const Commit& c) { return c.open == 0; });
  }
  void forget(Mask mask) {
    for (Commit& c : commits_) c.open &= ~mask;
    std::erase_if(commits_, [](const Commit& c) { return c.open == 0; });
  }
  // The most pending groups that a wait may allow and still cover the lane's copy of that epoch:
  // the groups committed after the copy's own, and before an epoch. `all` if the copy's own group
  // was not committed then.
  std::uint32_t allowance(unsigned lane, Epoch copy, Epoch before = always) const {
    std::uint32_t after = 0;
    bool committed = false;
    for (const Commit& c : commits_)
      if (c.epoch >= copy && c.epoch < before && c.lanes >> lane & 1)
        committed ? void(++after) : void(committed = true);
    return committed ? after : all;
  }

 private:
  struct Commit {
    Epoch epoch;  // it holds the copies up to here that are in no earlier commit
    Mask lanes;
    Mask open;  // lanes that have not waited for it
  };
  std::vector<Commit> commits_;
};

}  // namespace inflight::order
