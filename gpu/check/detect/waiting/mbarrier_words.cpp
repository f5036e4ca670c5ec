// The findings about single mistakes with mbarriers: a row and a function for each.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "gpu/async/violation.hpp"
#include "gpu/check/detect/waiting/phrases.hpp"
#include "gpu/check/detect/waiting/words.hpp"

namespace inflight::check {
namespace {

using async::Violation;
using OfMbarrier = MbarrierBreach::What;

// A finding that is being written.
struct MbarrierDraft {
  Places& places;
  const MbarrierBreach& breach;
  const MbarrierHistory& history;
  const Who& who;  // those that the finding is about
  std::string it;  // the mbarrier's name
  Finding finding{};

  void here(std::string did) { finding.here = places.party(who, std::move(did)); }
  void there(const Who& other, std::string did) {
    finding.there.push_back(places.party(other, std::move(did)));
  }
  void initialiser() {
    if (history.known())
      there(history.initialiser(),
            fmt::format("initialises it with a count of {}", history.current().expected));
  }
  void list(const std::vector<Contribution>& all, std::string_view verb, std::string_view unit) {
    for (Party& each : parties_of(all, verb, unit, places))
      finding.there.push_back(std::move(each));
  }
  void others(std::string_view verb, std::string_view unit) { list(breach.others, verb, unit); }
};

void too_many_arrivals(MbarrierDraft& d) {
  d.finding.sentence = fmt::format("{} at {}, but its phase {} expects only {} more of {}",
                                   plural(d.breach.came, "arrival"), d.it, d.breach.number,
                                   d.history.pending(), d.breach.expected);
  d.here("arrives at the mbarrier");
  d.initialiser();
  d.others("makes", "arrival");
  d.finding.remedy = fmt::format(
      "initialise the mbarrier with the number of arrivals of a phase (at least {}), or wait for "
      "phase {} before this arrival",
      d.history.current().arrived() + d.breach.came, d.breach.number);
}

void not_an_mbarrier(MbarrierDraft& d) {
  d.finding.sentence = fmt::format(
      "an operation on {}, which is not an mbarrier: it was never initialised, or was overwritten "
      "later",
      d.it);
  d.here("operates on an mbarrier");
  d.finding.remedy =
      "initialise it in one thread (mbarrier.init), then synchronise all its users at a barrier "
      "before they use it";
}

void broken_rule(MbarrierDraft& d) {
  if (d.breach.violation == Violation::too_many_arrivals) return too_many_arrivals(d);
  if (d.breach.violation == Violation::not_initialised) return not_an_mbarrier(d);
  d.finding.sentence = fmt::format("an operation on {} breaks a rule: {}", d.it,
                                   async::sentence(d.breach.violation));
  d.here("operates on an mbarrier");
}

void initialised_again(MbarrierDraft& d) {
  d.finding.sentence = fmt::format("{} is initialised while it is a valid mbarrier", d.it);
  d.here("initialises the mbarrier");
  d.there(d.breach.others.front().who, "initialised it before");
  d.finding.remedy =
      "let one thread initialise it once, or invalidate it first (mbarrier.inval), when no thread "
      "uses it any more";
}

void invalidated_in_use(MbarrierDraft& d) {
  d.finding.sentence =
      fmt::format("{} is invalidated while copies that complete on it are in flight", d.it);
  d.here("invalidates the mbarrier");
  d.others("issues a copy of", "byte");
  d.finding.remedy = "wait for the phase that these copies complete before mbarrier.inval";
}

void used_after_inval(MbarrierDraft& d) {
  d.finding.sentence = fmt::format("{} is used after it was invalidated", d.it);
  d.here("operates on the mbarrier");
  d.there(d.breach.others.front().who, "invalidated it");
  d.finding.remedy = "synchronise all its users at a barrier before mbarrier.inval";
}

// The arrivals of a phase by warps of which a thread arrived more than once in it.
std::vector<Contribution> repeated_arrivals(const std::vector<Contribution>& arrivals) {
  std::vector<Contribution> result;
  for (const Contribution& one : arrivals) {
    const auto threads = static_cast<std::uint64_t>(std::popcount(one.who.mask));
    const auto overlaps = [&](const Contribution& each) {
      return &each != &one && each.warp == one.warp && (each.who.mask & one.who.mask) != 0;
    };
    if (one.amount > threads || std::any_of(arrivals.begin(), arrivals.end(), overlaps))
      result.push_back(one);
  }
  return result;
}

void stray_arrival(MbarrierDraft& d) {
  const std::uint64_t complete = d.breach.number - 1;
  const std::uint64_t least = std::max(d.breach.came, d.breach.expected + 1);
  d.finding.sentence = fmt::format(
      "phase {} of {} is complete without this arrival: it expects {}, so this one counts for the "
      "next phase, but its thread is not synchronised with the start of that phase",
      complete, d.it, plural(d.breach.expected, "arrival"));
  d.here("arrives at the mbarrier");
  d.initialiser();
  const std::vector<Contribution> again = repeated_arrivals(d.breach.others);
  d.others(fmt::format("in phase {}, makes", complete), "arrival");
  const bool of_several = std::any_of(
      d.breach.others.begin(), d.breach.others.end(),
      [&](const Contribution& each) { return each.warp != d.breach.others.front().warp; });
  d.finding.remedy =
      again.empty()
          ? fmt::format(
                "initialise the mbarrier with the number of arrivals of a phase, at least {} "
                "instead of {}; or let a thread arrive again only after it has observed that "
                "phase {} is complete",
                least, d.breach.expected, complete)
          : fmt::format(
                "let a thread arrive again only after it has observed that the phase of its last "
                "arrival is complete; or, if it may arrive more than once in a phase, initialise "
                "the mbarrier with at least {} instead of {}",
                least, d.breach.expected);
  if (of_several)
    d.finding.remedy +=
        "; if not all warps that arrive there are meant to share it, give each an mbarrier of its "
        "own";
}

std::string expect_more(const MbarrierBreach& breach, std::string_view instead) {
  return fmt::format(
      "expect {} (mbarrier.arrive.expect_tx) in this phase{}; or, if one of these copies belongs "
      "to another phase or mbarrier, issue it there",
      plural(breach.came, "byte"), instead);
}

void unexpected_bytes(MbarrierDraft& d) {
  d.finding.sentence = fmt::format(
      "copies of {} complete on {}, whose phase {} expects no bytes: it can be complete while they "
      "are in flight",
      plural(d.breach.came, "byte"), d.it, d.breach.number);
  d.here("issues a copy that completes on it");
  d.others("issues copies of", "byte");
  if (!d.finding.there.empty()) d.finding.there.erase(d.finding.there.begin());
  d.finding.remedy = expect_more(d.breach, "");
}

void stray_bytes(MbarrierDraft& d) {
  if (d.breach.expects.empty()) return unexpected_bytes(d);
  d.finding.sentence = fmt::format(
      "phase {} of {} expects {}, but copies of {} complete on it: it can be complete while some "
      "of them are in flight",
      d.breach.number, d.it, plural(d.breach.expected, "byte"), plural(d.breach.came, "byte"));
  d.here(fmt::format("expects {}", plural(d.breach.expected, "byte")));
  d.others("issues copies of", "byte");
  d.finding.remedy = expect_more(d.breach, fmt::format(" instead of {}", d.breach.expected));
}

void uncounted_wait(MbarrierDraft& d) {
  d.finding.sentence = fmt::format(
      "a wait for parity {} of {} returns at once in its first phase, and nothing that completes "
      "this phase waits for the thread, as it does for others at the same wait: the thread may "
      "fall two phases behind and then wait for ever",
      d.breach.parity, d.it);
  d.finding.remedy =
      "let only the warp wait here whose copies or arrivals follow, or let the other warps arrive "
      "with it and raise the count";
}

void repeated_wait(MbarrierDraft& d) {
  const std::uint64_t phase = d.breach.number;
  d.here(fmt::format("waits for parity {}", d.breach.parity));
  if (d.breach.uncounted) return uncounted_wait(d);
  if (phase == 0) {
    d.finding.sentence = fmt::format(
        "a wait for parity {} of {} returns at once: the mbarrier is still in its first phase, "
        "which has parity 0",
        d.breach.parity, d.it);
  } else {
    d.finding.sentence = fmt::format(
        "a wait for parity {} of {} returns at once: it asks for phase {}, which the thread has "
        "waited for before, while phase {} (parity {}) is under way",
        d.breach.parity, d.it, phase - 1, phase, phase & 1);
    d.others("makes", "arrival");
  }
  d.finding.remedy = fmt::format(
      "wait for parity {} here: a thread begins with parity 0 and flips it after each wait for "
      "this mbarrier",
      phase & 1);
}

void stale_token(MbarrierDraft& d) {
  d.finding.sentence = fmt::format(
      "a wait for {} uses a token of an earlier phase: no arrival of phase {} returned it", d.it,
      d.breach.number);
  d.here("waits for the token's phase");
  d.others("makes", "arrival");
  d.finding.remedy = "wait with the token that the arrival in this phase returned";
}

void late_expect(MbarrierDraft& d) {
  d.finding.sentence = fmt::format(
      "phase {} of {} may complete before it expects these bytes: no thread arrives after "
      "this expect_tx",
      d.breach.number, d.it);
  d.here("expects more bytes");
  d.others("makes", "arrival");
  d.finding.remedy =
      "expect the bytes before the thread's own arrival in the phase: issue the copies "
      "(memcpy_async), then arrive";
}

void overrun(MbarrierDraft& d) {
  const std::uint64_t next = d.breach.number + 1;
  d.finding.sentence = fmt::format(
      "phase {} of {} is complete whether or not this thread has waited for phase {}: a thread "
      "that comes late to this wait falls two phases behind and waits for ever",
      next, d.it, d.breach.number);
  d.here(
      fmt::format("waits for parity {}, that is for phase {}", d.breach.parity, d.breach.number));
  d.others(fmt::format("in phase {}, makes", next), "arrival");
  d.finding.remedy = overrun_remedy(d.finding.there, next);
}

void arrivals_given_up(MbarrierDraft& d) {
  const MbarrierPhase& phase = d.history.current();
  const std::uint64_t all = phase.arrived() + d.history.pending();
  d.finding.sentence =
      phase.arrivals.empty()
          ? fmt::format(
                "a loop gives up its wait for phase {} of {}, which has its bytes, but none of the "
                "{} that it expects: expecting bytes (mbarrier.expect_tx) is not an arrival",
                d.breach.number, d.it, plural(all, "arrival"))
          : fmt::format(
                "a loop gives up its wait for phase {} of {}: it expects {} and {} came by the end "
                "of the block, so it was never complete",
                d.breach.number, d.it, plural(all, "arrival"), phase.arrived());
  d.here("tests for the phase again and again, and gives up");
  d.initialiser();
  d.others("makes", "arrival");
  d.finding.remedy =
      phase.arrivals.empty()
          ? "arrive as well: mbarrier.arrive.expect_tx instead of mbarrier.expect_tx, or "
            "mbarrier.arrive after it"
          : fmt::format(
                "initialise the mbarrier with {} instead of {}, or let the missing threads arrive "
                "in each phase",
                phase.arrived(), phase.expected);
}

void bytes_given_up(MbarrierDraft& d) {
  const MbarrierPhase& phase = d.history.current();
  const std::uint64_t expected = phase.bytes_expected();
  const std::uint64_t lacking = d.breach.expected - d.breach.came, came = expected - lacking;
  d.finding.sentence = fmt::format(
      "a loop gives up its wait for phase {} of {}: it expects {}, copies deliver {} and none the "
      "other {}, so it is never complete",
      d.breach.number, d.it, plural(expected, "byte"), came, lacking);
  d.here("tests for the phase again and again, and gives up");
  d.list(d.breach.expects, "expects", "byte");
  d.others("issues copies of", "byte");
  d.finding.remedy = fmt::format("expect {} instead of {}, or issue copies of {} on this mbarrier",
                                 plural(came, "byte"), expected, plural(lacking, "more byte"));
}

struct MbarrierRow {
  OfMbarrier what;
  FindingKind kind;
  void (*write)(MbarrierDraft&);
  std::string_view rule;
};

constexpr MbarrierRow mbarrier_rows[] = {
    // Its kind depends on the violation: kind_of().
    {OfMbarrier::broken_rule, FindingKind::barrier_misuse, broken_rule,
     "PTX ISA, Parallel Synchronization and Communication Instructions: mbarrier"},
    {OfMbarrier::initialised_again, FindingKind::barrier_misuse, initialised_again,
     "PTX ISA, mbarrier.init: initialising a valid mbarrier again is undefined"},
    {OfMbarrier::invalidated_in_use, FindingKind::barrier_misuse, invalidated_in_use,
     "PTX ISA, mbarrier.inval: only mbarrier.init may operate on memory that is not a valid "
     "mbarrier"},
    {OfMbarrier::used_after_inval, FindingKind::barrier_misuse, used_after_inval,
     "PTX ISA, mbarrier.inval: only mbarrier.init may operate on memory that is not a valid "
     "mbarrier"},
    {OfMbarrier::stray_arrival, FindingKind::arrival_count, stray_arrival,
     "PTX ISA, Phase of the mbarrier object: a phase is complete after the expected number of "
     "arrivals"},
    {OfMbarrier::stray_bytes, FindingKind::transaction_count, stray_bytes,
     "PTX ISA, Tracking asynchronous operations by the mbarrier object: a phase is complete when "
     "its tx-count is zero"},
    {OfMbarrier::repeated_wait, FindingKind::wrong_phase, repeated_wait,
     "PTX ISA, mbarrier.test_wait: it waits for the current phase or the one before"},
    {OfMbarrier::stale_token, FindingKind::wrong_phase, stale_token,
     "PTX ISA, mbarrier.test_wait: it waits for the current phase or the one before"},
    {OfMbarrier::late_expect, FindingKind::transaction_count, late_expect,
     "PTX ISA, mbarrier.expect_tx: it raises the tx-count of the current phase"},
    {OfMbarrier::overrun, FindingKind::wrong_phase, overrun,
     "PTX ISA, mbarrier.test_wait: it waits for the current phase or the one before"},
    {OfMbarrier::arrivals_given_up, FindingKind::arrival_count, arrivals_given_up,
     "PTX ISA, Phase of the mbarrier object: a phase is complete when its pending count is zero"},
    {OfMbarrier::bytes_given_up, FindingKind::transaction_count, bytes_given_up,
     "PTX ISA, Tracking asynchronous operations by the mbarrier object: a phase is complete when "
     "its tx-count is zero"},
};
static_assert(has_row_for_each(mbarrier_rows));

FindingKind kind_of(Violation violation) {
  switch (violation) {
    case Violation::too_many_arrivals:
    case Violation::drop_below_zero:
    case Violation::pending_overflow:
    case Violation::no_complete_completes:
      return FindingKind::arrival_count;
    case Violation::tx_operand_range:
    case Violation::tx_overflow:
    case Violation::tx_underflow:
      return FindingKind::transaction_count;
    case Violation::parity_range:
    case Violation::not_a_token:
      return FindingKind::wrong_phase;
    default:
      return FindingKind::barrier_misuse;
  }
}

// Those that the finding is about: of bytes too many, what expected too few, else the first copy.
const Who& subject_of(const MbarrierBreach& breach) {
  if (breach.what != OfMbarrier::stray_bytes) return breach.who;
  if (!breach.expects.empty()) return breach.expects.front().who;
  return breach.others.empty() ? breach.who : breach.others.front().who;
}

}  // namespace

void WaitingWords::add(const MbarrierBreach& breach, const MbarrierHistory& history,
                       const MbarrierPlace& at) {
  Places& places = session_.places;
  const MbarrierRow& row = mbarrier_rows[static_cast<std::size_t>(breach.what)];
  const FindingKind kind =
      breach.what == OfMbarrier::broken_rule ? kind_of(breach.violation) : row.kind;
  const Who& who = subject_of(breach);
  const std::uint64_t more = key_of(breach.what, breach.violation);
  session_.findings.add({kind, places.of(who), no_place, more}, [&] {
    MbarrierDraft draft{places, breach, history, who, name_of(at, who, places)};
    draft.finding.kind = kind;
    draft.finding.bytes = bytes_of(at, who, places);
    draft.finding.rule = row.rule;
    row.write(draft);
    return std::move(draft.finding);
  });
}

}  // namespace inflight::check
