// What happened to one mbarrier, phase by phase, and what of it breaks the rules.
//
// Rules that no single operation shows (PTX ISA, "mbarrier"): whatever counts for a phase (an
// arrival, expected bytes, a copy's bytes) must come from a thread that can know that the phase
// before is complete, else it might as well have counted for that one. And a thread that asks for a
// phase must have a part in the completion of the next one, else that may be over before it asks.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/check/detect/waiting/warp_order.hpp"
#include "gpu/check/events.hpp"

namespace inflight::check {

// Lanes of a warp that did the same: `times` events, `amount` arrivals or bytes in all.
struct Contribution {
  Who who;
  std::uint32_t warp = 0;  // in the cluster
  std::uint64_t amount = 0;
  WarpOrder::Time time = 0;  // of the last
};

struct MbarrierPhase {
  std::uint64_t number = 0;
  std::uint32_t expected = 0;                              // arrivals, when it began
  std::vector<Contribution> arrivals, expects, completed;  // completed: bytes of copies
  std::uint64_t arrived() const;
  std::uint64_t bytes_expected() const;
  std::uint64_t bytes_completed() const;
  bool untouched() const { return arrivals.empty() && expects.empty() && completed.empty(); }
};

struct MbarrierBreach {
  enum class What : std::uint8_t {
    broken_rule,  // by one operation: `violation`
    initialised_again,
    invalidated_in_use,
    used_after_inval,
    stray_arrival,  // in `phase`, by a thread that cannot know that the one before is complete
    stray_bytes,    // more bytes than a phase expects: of copies that it does not wait for
    repeated_wait,  // answered at once, for a phase that the thread had seen before
    stale_token,    // a token of neither the current nor the preceding phase
  };
  What what = What::broken_rule;
  async::Violation violation = async::Violation::none;
  Who who;                           // who did it
  std::uint64_t number = 0;          // of the phase that it is about
  std::vector<Contribution> others;  // arrivals, copies: the other side
  std::vector<Contribution> expects;
  std::uint64_t expected = 0, came = 0;  // arrivals or bytes
  std::uint32_t parity = 0;              // asked for
};

class MbarrierHistory {
 public:
  using Breaches = std::vector<MbarrierBreach>;

  // `warp`: of the cluster, who.warp of op.who's block.
  void note(const MbarrierOp& op, std::uint32_t warp, WarpOrder& order, Breaches& out);
  void copy_issued(const CopyIssued& copy, std::uint32_t warp, WarpOrder& order, Breaches& out);
  // Reports what was waiting for others of its kind to come. `last`: nobody uses it any more.
  void settle(Breaches& out, bool last = false);

  // A wait for a phase that its thread had waited for before, of which nobody whom the next phase
  // needs knows: what may be wrong where threads wait for ever. `fresh`: before the first phase,
  // too.
  std::optional<MbarrierBreach> doubtful_wait(bool fresh) const;
  // The same, by a warp that has since done something at another mbarrier that it should not have.
  std::optional<MbarrierBreach> hasty_wait(std::uint32_t warp) const;
  // An arrival that came too early, of which nothing was said yet.
  const MbarrierBreach* stray_arrival() const {
    return stray_ && stray_->what == MbarrierBreach::What::stray_arrival ? &*stray_ : nullptr;
  }

  bool live() const { return live_; }
  bool known() const { return known_; }  // its initialisation was seen
  const Who& initialiser() const { return init_; }
  const MbarrierPhase& current() const { return current_; }
  const MbarrierPhase& previous() const { return previous_; }
  std::uint32_t pending() const { return pending_; }
  std::int32_t tx_count() const { return tx_; }
  bool copies_in_flight() const { return !in_flight_.empty(); }
  // The newest phase that threads of the warp have seen complete; -1: none.
  std::int64_t seen(std::uint32_t warp) const;

 private:
  struct Pass {  // of a wait that nobody need have waited for
    Who who;
    std::uint32_t warp = 0;
    WarpOrder::Time time = 0;
    std::uint32_t parity = 0;
    bool awaited = false;  // somebody whom the phase still needs knows of it
  };
  using CopyKey = std::pair<std::uint32_t, std::uint64_t>;  // warp, id
  struct Observer {
    std::uint32_t warp = 0;
    WarpOrder::Time time = 0;
  };

  void begin(const MbarrierOp& op);
  void contribute(const MbarrierOp& op, std::uint32_t warp, WarpOrder& order, Breaches& out);
  void waited(const MbarrierOp& op, std::uint32_t warp, WarpOrder& order, Breaches& out);
  void complete(const MbarrierOp& op, Breaches& out);
  bool may_know_previous(std::uint32_t warp, Mask lane, const WarpOrder& order);
  void protect(std::uint32_t warp, const WarpOrder& order);
  const Pass* unprotected() const;
  MbarrierBreach repeated(const Who& who, std::uint32_t parity) const;
  bool contributed(std::uint32_t warp, Mask lane) const;
  bool token_is_stale(const MbarrierOp& op) const;
  void stray_copy(const Who& who, std::uint32_t warp, std::uint64_t bytes);

  bool live_ = false, known_ = false, dead_ = false;
  // Threads of other blocks use it. Waits for the phase before its first are not judged then: in
  // CUTLASS's pipelines threads make them that have no part in what follows.
  bool crossed_ = false;
  Who init_, inval_;
  std::uint32_t pending_ = 0, expected_ = 0;
  std::int32_t tx_ = 0;
  MbarrierPhase current_, previous_;
  std::uint32_t fewest_pending_ = 0;             // in the current phase, so far
  std::vector<Pass> passes_;                     // in the current phase
  std::vector<Observer> observers_;              // of the previous phase
  std::map<CopyKey, Contribution> in_flight_;    // copies
  std::vector<std::vector<std::int64_t>> seen_;  // by warp and lane
  std::optional<MbarrierBreach> stray_;          // that others may join
  WarpOrder::Passed arrived_, completed_;        // by arrivals; by those of complete phases
};

}  // namespace inflight::check
