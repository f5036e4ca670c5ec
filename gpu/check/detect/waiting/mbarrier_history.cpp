// Follows an mbarrier's phases from its operations.
#include "gpu/check/detect/waiting/mbarrier_history.hpp"

#include <algorithm>
#include <bit>

#include "gpu/async/mbarrier.hpp"

namespace inflight::check {
namespace {

using async::Violation;
using Op = MbarrierOp::Op;
using What = MbarrierBreach::What;

std::uint64_t sum(const std::vector<Contribution>& all) {
  std::uint64_t amount = 0;
  for (const Contribution& each : all) amount += each.amount;
  return amount;
}

// Adds a contribution. Lanes of one warp at one instruction share an entry.
void add(std::vector<Contribution>& to, const Contribution& one) {
  for (Contribution& each : to) {
    if (each.warp != one.warp || each.who.instruction != one.who.instruction) continue;
    each.who.mask |= one.who.mask;
    each.amount += one.amount;
    each.time = one.time;
    return;
  }
  to.push_back(one);
}

bool is_arrival(Op op) {
  return op == Op::arrive || op == Op::arrive_drop || op == Op::async_arrive;
}
// Of all its lanes.
std::uint64_t arrivals_of(const MbarrierOp& op) {
  return is_arrival(op.op) ? std::uint64_t{op.count} * std::popcount(op.who.mask) : 0;
}
bool is_wait(Op op) { return op == Op::test_wait || op == Op::try_wait; }

}  // namespace

void MbarrierPhase::clear() {
  for (auto* each : {&arrivals, &expects, &completed, &not_held}) each->clear();
}
std::uint64_t MbarrierPhase::arrived() const { return sum(arrivals); }
std::uint64_t MbarrierPhase::bytes_expected() const { return sum(expects); }
std::uint64_t MbarrierPhase::bytes_completed() const { return sum(completed); }

std::int64_t MbarrierHistory::seen(std::uint32_t warp) const {
  std::int64_t newest = -1;
  if (warp < seen_.size())
    for (const Seen& each : seen_[warp]) newest = std::max(newest, each.phase);
  return newest;
}

void MbarrierHistory::begin(const MbarrierOp& op) {
  std::optional<MbarrierBreach> overrun = std::move(overrun_);
  *this = {};
  overrun_ = std::move(overrun);
  live_ = true;
  known_ = op.op == Op::init;
  init_ = op.who;
  expected_ = op.expected;
  pending_ = fewest_pending_ = op.pending;
  tx_ = op.tx_count;
  current_.expected = op.expected;
  if (!known_) current_.number = op.phase_parity ^ (op.done && !is_wait(op.op) ? 1 : 0);
}

void MbarrierHistory::note(const MbarrierOp& op, std::uint32_t warp, WarpOrder& order,
                           Breaches& out) {
  if (op.op == Op::pending_count && op.violation == Violation::none) return;
  if (op.violation != Violation::none) {
    const Pass* const pass = unprotected();
    if (op.violation == Violation::too_many_arrivals && pass)
      return out.push_back(repeated(pass->who, pass->parity));
    MbarrierBreach breach{What::broken_rule, op.violation, op.who, current_.number, {}, {}, 0, 0};
    breach.others = current_.arrivals;
    breach.expects = current_.expects;
    breach.expected = op.expected, breach.came = op.count;
    return out.push_back(breach);
  }
  if (op.op == Op::init) {
    if (live_ && known_) out.push_back({What::initialised_again, {}, op.who, 0, {{init_}}, {}});
    return begin(op);
  }
  if (dead_) {
    out.push_back({What::used_after_inval, {}, op.who, current_.number, {{inval_}}, {}});
    return begin(op);
  }
  if (!live_) begin(op);
  crossed_ |= known_ && op.who.block != init_.block;
  if (op.op == Op::inval) {
    settle(out);
    if (const auto wait = given_up()) out.push_back(*wait);
    // A copy counts as in flight until the thread can know that it is complete.
    const bool unseen =
        !previous_.completed.empty() && !may_know_previous(warp, op.who.mask, order);
    if (!in_flight_.empty() || unseen) {
      MbarrierBreach breach{What::invalidated_in_use, {}, op.who, current_.number, {}, {}};
      if (unseen) breach.others = previous_.completed;
      for (const auto& [key, copy] : in_flight_) add(breach.others, copy);
      out.push_back(breach);
    }
    live_ = false, dead_ = true;
    inval_ = op.who;
    return;
  }
  if (is_wait(op.op)) return waited(op, warp, order, out);
  contribute(op, warp, order, out);
}

bool MbarrierHistory::contributed(std::uint32_t warp, Mask lane) const {
  const auto by = [&](const Contribution& each) {
    return each.warp == warp && (each.who.mask & lane) != 0;
  };
  return std::any_of(current_.arrivals.begin(), current_.arrivals.end(), by) ||
         std::any_of(current_.expects.begin(), current_.expects.end(), by);
}

// A thread can know of the previous phase's completion from a thread that saw it, or from all of
// its arrivals if the phase had no bytes to wait for. Each lane of the mask must know it by itself.
bool MbarrierHistory::may_know_previous(std::uint32_t warp, Mask mask, const WarpOrder& order) {
  if (current_.number == 0 || (!known_ && previous_.untouched())) return true;
  for (const Observer& each : observers_)
    if (order.knows(warp, each.warp, each.time)) return true;
  if (!previous_.expects.empty() || !previous_.completed.empty()) return false;
  return std::all_of(previous_.arrivals.begin(), previous_.arrivals.end(),
                     [&](const Contribution& each) {
                       if (each.warp != warp) return order.knows(warp, each.warp, each.time);
                       return (std::has_single_bit(mask) && each.who.mask == mask) ||
                              each.time <= order.last_sync(warp);
                     });
}

void MbarrierHistory::protect(std::uint32_t warp, const WarpOrder& order) {
  for (auto* const waits : {&passes_, &first_waits_})
    for (Pass& each : *waits) each.awaited |= order.knows(warp, each.warp, each.time);
}

const MbarrierHistory::Pass* MbarrierHistory::unawaited() const {
  const auto found = std::find_if(first_waits_.begin(), first_waits_.end(),
                                  [](const Pass& each) { return !each.awaited; });
  return known_ && found != first_waits_.end() ? &*found : nullptr;
}

// `next`: the phase that is complete, whether or not these threads have waited.
void MbarrierHistory::note_overrun(const Who& who, std::uint32_t parity,
                                   const MbarrierPhase& next) {
  if (overrun_) return;
  overrun_ = MbarrierBreach{What::overrun, {}, who, next.number - 1, next.arrivals, next.expects};
  overrun_->parity = parity;
}

const MbarrierHistory::Pass* MbarrierHistory::unprotected() const {
  if (crossed_ && current_.number == 0) return nullptr;
  const auto found =
      std::find_if(passes_.begin(), passes_.end(), [](const Pass& each) { return !each.awaited; });
  return found == passes_.end() ? nullptr : &*found;
}

MbarrierBreach MbarrierHistory::repeated(const Who& who, std::uint32_t parity) const {
  MbarrierBreach breach{What::repeated_wait, {}, who, current_.number, current_.arrivals,
                        current_.expects};
  breach.parity = parity;
  const auto counted = [&](const Pass& each) {
    return each.awaited && each.who.instruction == who.instruction;
  };
  breach.uncounted = current_.number == 0 && std::any_of(passes_.begin(), passes_.end(), counted);
  return breach;
}

void MbarrierHistory::stray_copy(const Who& who, std::uint32_t warp, std::uint64_t bytes) {
  if (!stray_) {
    stray_ = MbarrierBreach{What::stray_bytes, {}, who, previous_.number, previous_.completed,
                            previous_.expects};
    stray_->expected = previous_.bytes_expected();
  }
  if (stray_->what == What::stray_bytes) add(stray_->others, {who, warp, bytes, 0});
}

void MbarrierHistory::contribute(const MbarrierOp& op, std::uint32_t warp, WarpOrder& order,
                                 Breaches& out) {
  const Contribution one{op.who, warp, is_arrival(op.op) ? arrivals_of(op) : op.tx_bytes,
                         order.step(warp)};
  const bool by_copy = op.op == Op::complete_tx && op.copy != 0;
  if (by_copy) in_flight_.erase({warp, op.copy});
  if (!by_copy && op.op != Op::arrive_drop && op.op != Op::async_arrive_issued &&
      !may_know_previous(warp, op.who.mask, order)) {
    if (!stray_) {
      stray_ = MbarrierBreach{What::stray_arrival, {}, op.who, current_.number, {}, {}};
      stray_->others = previous_.arrivals;
      stray_->expected = previous_.expected;
      stray_->came = previous_.arrived();
    }
    if (stray_->what == What::stray_arrival) stray_->came += arrivals_of(op);
  }
  if (!by_copy) protect(warp, order);
  const auto arriving = static_cast<std::uint64_t>(std::popcount(op.who.mask));
  if (op.op == Op::async_arrive_issued) later_arrivals_ += arriving;
  if (op.op == Op::async_arrive) later_arrivals_ -= std::min(later_arrivals_, arriving);
  if (is_arrival(op.op)) add(current_.arrivals, one);
  if (op.op == Op::complete_tx) add(current_.completed, one);
  if (op.tx_bytes != 0 &&
      (op.op == Op::expect_tx || op.op == Op::arrive || op.op == Op::arrive_drop))
    add(current_.expects, {op.who, warp, op.tx_bytes, one.time});
  // An arrival after expect_tx keeps the phase incomplete until then. Without one, the phase may be
  // complete before, and the bytes are expected of the next.
  if (op.tx_bytes != 0 && op.op == Op::expect_tx) add(current_.not_held, one);
  if (is_arrival(op.op))
    std::erase_if(current_.not_held, [&](const Contribution& each) {
      return order.knows(warp, each.warp, each.time);
    });
  order.release(warp, arrived_);
  pending_ = op.pending, tx_ = op.tx_count;
  if (op.done) return complete(op, out);
  fewest_pending_ = std::min(fewest_pending_, pending_);
  if (pending_ == 0 && tx_ < 0 && !stray_) {
    stray_ = MbarrierBreach{What::stray_bytes, {}, op.who, current_.number, current_.completed,
                            current_.expects};
    stray_->expected = current_.bytes_expected();
    for (const auto& [key, copy] : in_flight_) add(stray_->others, copy);
  }
}

void MbarrierHistory::complete(const MbarrierOp& op, Breaches& out) {
  if (const Pass* const pass = unprotected()) out.push_back(repeated(pass->who, pass->parity));
  if (const Pass* const wait = unawaited()) note_overrun(wait->who, wait->parity, current_);
  if (!in_flight_.empty() && !stray_) {
    stray_ = MbarrierBreach{What::stray_bytes, {}, op.who, current_.number, current_.completed,
                            current_.expects};
    stray_->expected = current_.bytes_expected();
    for (const auto& [key, copy] : in_flight_) add(stray_->others, copy);
  }
  if (!current_.not_held.empty() && !stray_ && out.empty())
    out.push_back({What::late_expect,
                   {},
                   current_.not_held.front().who,
                   current_.number,
                   current_.arrivals,
                   current_.expects});
  std::swap(previous_, current_);
  current_.clear();
  current_.number = previous_.number + 1;
  current_.expected = expected_ = op.expected;
  fewest_pending_ = op.pending;
  passes_.clear();
  first_waits_.clear();
  observers_.clear();
  attempts_.clear();
  completed_ = arrived_;
}

void MbarrierHistory::tested(const MbarrierOp& op, std::uint32_t warp, std::uint64_t learnt) {
  const auto known = std::ranges::find(attempts_, warp, &Attempt::warp);
  if (known == attempts_.end()) return attempts_.push_back({op.who, warp, learnt});
  Attempt& last = *known;
  if (last.who.instruction != op.who.instruction) {
    last = {op.who, warp, learnt};
    return;
  }
  last.alone &= last.learnt == learnt;
  last.learnt = learnt;
  last.repeated |= (last.who.mask & op.who.mask) != 0;
  last.who.mask |= op.who.mask;
}

// A phase of which nothing has come may be meant to be never complete.
std::optional<MbarrierBreach> MbarrierHistory::given_up() const {
  if (!live_ || !known_ || current_.untouched() || later_arrivals_ != 0) return std::nullopt;
  const auto attempt = std::ranges::find_if(
      attempts_, [](const Attempt& each) { return each.repeated && each.alone; });
  if (attempt == attempts_.end()) return std::nullopt;
  MbarrierBreach breach{
      What::arrivals_given_up, {}, attempt->who, current_.number, current_.arrivals,
      current_.expects};
  if (pending_ != 0) return breach;
  breach.what = What::bytes_given_up;
  breach.others = current_.completed;
  for (const auto& [key, copy] : in_flight_) {
    add(breach.others, copy);
    breach.came += copy.amount;
  }
  breach.expected = static_cast<std::uint64_t>(std::max(tx_, 0));
  if (breach.expected <= breach.came) return std::nullopt;
  return breach;
}

void MbarrierHistory::copy_issued(const CopyIssued& copy, std::uint32_t warp, WarpOrder& order,
                                  Breaches&) {
  if (copy.tx_bytes == 0 || dead_) return;
  const Contribution one{copy.who, warp, copy.tx_bytes, order.step(warp)};
  in_flight_.emplace(CopyKey{warp, copy.id}, one);
  if (live_ && !may_know_previous(warp, copy.who.mask, order))
    stray_copy(copy.who, warp, copy.tx_bytes);
  protect(warp, order);
}

// The token names the current phase, but no arrival of this phase can have returned it.
bool MbarrierHistory::token_is_stale(const MbarrierOp& op) const {
  if (op.by_parity || op.done || !known_) return false;
  const async::mbarrier::State token = async::mbarrier::decode(op.token);
  return token.parity == op.phase_parity && token.pending <= fewest_pending_;
}

Mask MbarrierHistory::see(std::vector<Seen>& of_warp, Mask mask, std::int64_t phase) {
  if (phase < 0) return 0;
  Mask before = 0, late = 0;
  for (Seen& each : of_warp) {
    before |= each.lanes;
    if (each.phase >= phase) continue;
    late |= each.lanes & mask;
    each.lanes &= ~mask;
  }
  const Mask fresh = late | (mask & ~before);
  if (fresh == 0) return 0;
  Seen* to = nullptr;  // those of this phase, or an entry that is now empty
  for (Seen& each : of_warp)
    if (each.phase == phase || (each.lanes == 0 && !to)) to = &each;
  if (to)
    *to = {to->lanes | fresh, phase};
  else
    of_warp.push_back({fresh, phase});
  return fresh;
}

void MbarrierHistory::waited(const MbarrierOp& op, std::uint32_t warp, WarpOrder& order,
                             Breaches& out) {
  settle(out);
  if (token_is_stale(op))
    out.push_back({What::stale_token, {}, op.who, current_.number, current_.arrivals, {}});
  if (!op.done) return;
  // 2: the thread was released earlier, and the event comes after the next phase's completion.
  const auto behind = op.parity != op.phase_parity ? 1 : 2;
  const std::int64_t asked = static_cast<std::int64_t>(current_.number) - behind;
  const WarpOrder::Time time = order.step(warp);
  order.acquire(warp, completed_);
  if (seen_.size() <= warp) seen_.resize(warp + 1);
  Who fresh = op.who, again = op.who;  // lanes that had not seen it before, and those that had
  fresh.mask &= see(seen_[warp], op.who.mask, asked);
  again.mask &= ~fresh.mask;
  if (behind != 1) {
    if (fresh.mask != 0 && known_) note_overrun(fresh, op.parity, previous_);
    return;
  }
  if (again.mask != op.who.mask && (observers_.empty() || observers_.back().warp != warp))
    observers_.push_back({warp, time});
  if (fresh.mask != 0) remember(first_waits_, {fresh, warp, time, op.parity});
  if (again.mask == 0 || (!op.by_parity && !contributed(warp, again.mask))) return;
  remember(passes_, {again, warp, time, op.parity});
}

// A warp's later waits take the place of its last one, if no other warp has waited since.
void MbarrierHistory::remember(std::vector<Pass>& waits, const Pass& latest) {
  if (!waits.empty() && waits.back().warp == latest.warp)
    waits.back().time = latest.time, waits.back().awaited = false;
  else
    waits.push_back(latest);
}

std::optional<MbarrierBreach> MbarrierHistory::doubtful_wait(bool fresh) const {
  const Pass* const pass = unprotected();
  if (!pass || (current_.number == 0 && !fresh)) return std::nullopt;
  MbarrierBreach breach = repeated(pass->who, pass->parity);
  if (breach.others.empty()) breach.others = previous_.arrivals;
  return breach;
}

std::optional<MbarrierBreach> MbarrierHistory::hasty_wait(std::uint32_t warp) const {
  if (!live_ || !known_ || (crossed_ && current_.number == 0)) return std::nullopt;
  for (const Pass& each : passes_)
    if (each.warp == warp && !each.awaited && current_.number != 0)
      return repeated(each.who, each.parity);
  return std::nullopt;
}

void MbarrierHistory::settle(Breaches& out, bool last) {
  if (const Pass* const pass = unprotected(); last && pass && !current_.untouched())
    out.push_back(repeated(pass->who, pass->parity));
  if (!stray_) return;
  MbarrierBreach breach = std::move(*stray_);
  stray_.reset();
  if (breach.what == What::stray_bytes) breach.came = sum(breach.others);
  out.push_back(std::move(breach));
}

}  // namespace inflight::check
