// The operations on one mbarrier, phase by phase, and the rules that they break.
//
// Two rules need more than one operation to check (PTX ISA, "mbarrier"). Whatever counts for a
// phase (an arrival, expected bytes, a copy's bytes) must come from a thread that can know that the
// previous phase is complete, otherwise it could have counted for that one. And what completes a
// phase must include a thread that can know of each wait for the previous one, otherwise the phase
// may complete before that wait, which then lasts for ever.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gpu/check/detect/waiting/warp_order.hpp"
#include "gpu/check/events.hpp"
#include "gpu/check/finding/findings.hpp"

namespace inflight::check {

// Lanes of a warp that executed the same operation: `amount` arrivals or bytes in total.
struct Contribution {
  Who who;
  std::uint32_t warp = 0;  // in the cluster
  std::uint64_t amount = 0;
  WarpOrder::Time time = 0;  // of the last operation
};

struct MbarrierPhase {
  std::uint64_t number = 0;
  std::uint32_t expected = 0;                              // arrivals, at the phase's begin
  std::vector<Contribution> arrivals, expects, completed;  // completed: bytes of copies
  std::vector<Contribution> not_held;                      // by expect_tx, before no arrival
  std::uint64_t arrived() const;
  std::uint64_t bytes_expected() const;
  std::uint64_t bytes_completed() const;
  void clear();  // its contributions
  bool untouched() const { return arrivals.empty() && expects.empty() && completed.empty(); }
};

struct MbarrierBreach {
  enum class What : std::uint8_t {
    broken_rule,  // a single operation breaks a rule: `violation`
    initialised_again,
    invalidated_in_use,
    used_after_inval,
    stray_arrival,  // by a thread that cannot know that the phase before `number` is complete
    stray_bytes,    // copies deliver more bytes than the phase expects, so it does not wait for all
    repeated_wait,  // returned at once, for a phase that the thread had seen before
    stale_token,    // a token of neither the current nor the preceding phase
    late_expect,    // bytes expected of a phase that no later arrival keeps incomplete
    overrun,        // nothing that completed the phase after `number` knows of this wait for it
    arrivals_given_up,  // a loop gave up its wait for a phase that lacks arrivals, and always will
    bytes_given_up,     // the same of a phase that lacks bytes
    count_,
  };
  What what = What::broken_rule;
  async::Violation violation = async::Violation::none;
  Who who;                           // the threads that broke the rule
  std::uint64_t number = 0;          // the phase in question
  std::vector<Contribution> others;  // arrivals or copies of the other side
  std::vector<Contribution> expects;
  std::uint64_t expected = 0, came = 0;  // arrivals or bytes. bytes_given_up: those yet to come
  std::uint32_t parity = 0;              // that the wait tested
  // A repeated wait in the first phase, at an instruction where that phase's contributors know of
  // another warp's wait: a producer's warp that does not produce.
  bool uncounted = false;
};

// FindingKey::more of a breach.
constexpr std::uint64_t key_of(MbarrierBreach::What what,
                               async::Violation violation = async::Violation::none) {
  return check::key_of(Rules::mbarrier, static_cast<std::uint64_t>(what) << 8 |
                                            static_cast<std::uint64_t>(violation));
}

class MbarrierHistory {
 public:
  using Breaches = std::vector<MbarrierBreach>;

  // `warp`: op.who's warp, numbered in the cluster.
  void note(const MbarrierOp& op, std::uint32_t warp, WarpOrder& order, Breaches& out);
  // A test of the current phase that returned false. `learnt`: how often the warp has read what
  // else could tell it to go on.
  void tested(const MbarrierOp& op, std::uint32_t warp, std::uint64_t learnt);
  void copy_issued(const CopyIssued& copy, std::uint32_t warp, WarpOrder& order, Breaches& out);
  // Reports the stray arrival or copies collected so far. `last`: the mbarrier is no longer used.
  void settle(Breaches& out, bool last = false);

  // A loop's wait for the current phase that ended without success, if nothing can complete the
  // phase any more. To be asked when the mbarrier is no longer used.
  std::optional<MbarrierBreach> given_up() const;

  // A repeated wait that no contributor to the current phase can know of: a possible cause of a
  // hang. Waits before the completion of the first phase count only with `fresh`.
  std::optional<MbarrierBreach> doubtful_wait(bool fresh) const;
  // Such a wait by `warp`: a possible cause of what the warp then did wrong at another mbarrier.
  std::optional<MbarrierBreach> hasty_wait(std::uint32_t warp) const;
  // The first wait that nothing kept from being overrun. What breaks another rule often breaks this
  // one too.
  const std::optional<MbarrierBreach>& overrun() const { return overrun_; }
  // An arrival that came too early and is not yet reported. Null if there is none.
  const MbarrierBreach* stray_arrival() const {
    return stray_ && stray_->what == MbarrierBreach::What::stray_arrival ? &*stray_ : nullptr;
  }

  bool live() const { return live_; }
  bool known() const { return known_; }  // its initialisation was observed
  const Who& initialiser() const { return init_; }
  const MbarrierPhase& current() const { return current_; }
  const MbarrierPhase& previous() const { return previous_; }
  std::uint32_t pending() const { return pending_; }
  std::int32_t tx_count() const { return tx_; }
  bool copies_in_flight() const { return !in_flight_.empty(); }
  // The newest phase that threads of the warp have seen complete; -1: none.
  std::int64_t seen(std::uint32_t warp) const;

 private:
  struct Pass {  // a wait for the previous phase
    Who who;
    std::uint32_t warp = 0;
    WarpOrder::Time time = 0;
    std::uint32_t parity = 0;
    bool awaited = false;  // a later contributor to the current phase can know of it
  };
  using CopyKey = std::pair<std::uint32_t, std::uint64_t>;  // warp, id
  struct Observer {
    std::uint32_t warp = 0;
    WarpOrder::Time time = 0;
  };

  // A warp's tests of the current phase at one instruction, all in vain.
  struct Attempt {
    Who who;
    std::uint32_t warp = 0;
    std::uint64_t learnt = 0;
    bool repeated = false, alone = true;  // alone: nothing but the test can have told it to go on
  };

  // Lanes, and the newest phase that they have seen complete. Others have seen none.
  struct Seen {
    Mask lanes = 0;
    std::int64_t phase = 0;
  };

  void begin(const MbarrierOp& op);
  void contribute(const MbarrierOp& op, std::uint32_t warp, WarpOrder& order, Breaches& out);
  void waited(const MbarrierOp& op, std::uint32_t warp, WarpOrder& order, Breaches& out);
  void complete(const MbarrierOp& op, Breaches& out);
  bool may_know_previous(std::uint32_t warp, Mask mask, const WarpOrder& order);
  void protect(std::uint32_t warp, const WarpOrder& order);
  const Pass* unprotected() const;
  const Pass* unawaited() const;  // among the first waits
  void note_overrun(const Who& who, std::uint32_t parity, const MbarrierPhase& next);
  MbarrierBreach repeated(const Who& who, std::uint32_t parity) const;
  // These lanes see the phase complete. Returns those that had not seen it.
  static Mask see(std::vector<Seen>& of_warp, Mask mask, std::int64_t phase);
  static void remember(std::vector<Pass>& waits, const Pass& latest);
  bool contributed(std::uint32_t warp, Mask lane) const;
  bool token_is_stale(const MbarrierOp& op) const;
  void stray_copy(const Who& who, std::uint32_t warp, std::uint64_t bytes);

  bool live_ = false, known_ = false, dead_ = false;
  // Threads of other blocks use it. Then waits before the completion of its first phase are not
  // reported: in CUTLASS's pipelines, threads that do not contribute to that phase make them.
  bool crossed_ = false;
  Who init_, inval_;
  std::uint32_t pending_ = 0, expected_ = 0;
  std::int32_t tx_ = 0;
  MbarrierPhase current_, previous_;
  std::uint32_t fewest_pending_ = 0;  // in the current phase
  std::vector<Pass> passes_;          // in the current phase, by threads that had seen the previous
  std::vector<Pass> first_waits_;     // in the current phase, by threads that had not
  std::vector<Observer> observers_;   // warps that saw the previous phase complete
  std::map<CopyKey, Contribution> in_flight_;  // copies
  std::vector<Attempt> attempts_;              // by warp, in the current phase
  std::uint64_t later_arrivals_ = 0;           // that cp.async copies are to make
  std::vector<std::vector<Seen>> seen_;        // by warp
  std::optional<MbarrierBreach> stray_;        // not yet reported: more may add to it
  std::optional<MbarrierBreach> overrun_;      // the first
  WarpOrder::SyncClock arrived_, completed_;   // by all arrivals; by those of complete phases
};

}  // namespace inflight::check
