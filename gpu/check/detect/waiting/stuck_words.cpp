// The finding for why threads of a cluster wait for ever: a row and a function for each cause.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/check/detect/waiting/phrases.hpp"
#include "gpu/check/detect/waiting/standstill.hpp"
#include "gpu/check/detect/waiting/words.hpp"

namespace inflight::check {
namespace {

using Cause = Standstill::Cause;

constexpr std::size_t most_groups = 6;

std::string mbarrier_words(const Standstill::Group& group, Places& places) {
  const Wait& w = group.first.wait;
  const MbarrierHistory& m = *group.mbarrier;
  const MbarrierPhase& phase = m.current();
  std::string text =
      fmt::format("waits for phase {} (parity {}) of {} ({}), which has {} of {} arrivals",
                  phase.number, phase.number & 1, name_of({w.who.block, w.id}, w.who, places),
                  plural(group.threads, "thread"), phase.arrived(), phase.arrived() + m.pending());
  if (m.tx_count() > 0) text += fmt::format(" and lacks {} bytes", m.tx_count());
  return text;
}

std::string barrier_words(const Standstill::Group& group, const Standstill& still) {
  const Wait& w = group.first.wait;
  const std::string who = plural(group.threads, "thread");
  if (w.kind == BarrierKind::cluster)
    return fmt::format("waits at the cluster's barrier ({})", who);
  const BarrierPhase& phase = still.barrier_of(w);
  return fmt::format("waits at barrier {} ({}), where {} of {} threads have arrived", w.id, who,
                     phase.arrived, phase.expected ? phase.expected : still.living(w.who.block));
}

// What the threads of a group do.
std::string group_words(const Standstill::Group& group, const Standstill& still, Places& places) {
  const Wait& w = group.first.wait;
  const std::string who = plural(group.threads, "thread");
  if (group.first.polls) return fmt::format("polls ({})", who);
  switch (w.what) {
    case Wait::For::barrier:
      return barrier_words(group, still);
    case Wait::For::mbarrier:
      return group.mbarrier ? mbarrier_words(group, places)
                            : fmt::format("waits for an mbarrier ({})", who);
    case Wait::For::collective:
      return fmt::format("waits for the lanes of member mask 0x{:08x} ({})", w.members, who);
    case Wait::For::warpgroup:
      if (w.members == 0)
        return fmt::format("waits for more registers than its block has left (setmaxnreg.inc) ({})",
                           who);
      return fmt::format("waits for a wgmma that other warps of its warpgroup have not issued ({})",
                         who);
    case Wait::For::columns:
      return fmt::format("waits for {} columns of tensor memory (tcgen05.alloc) ({})", w.id, who);
    case Wait::For::nothing:
      return fmt::format("repeats for ever a loop that has no way out ({})", who);
    default:
      return fmt::format("sleeps ({})", who);
  }
}

constexpr std::string_view divergent_barrier_rule =
    "CUDA C++ Programming Guide, Synchronization Functions: __syncthreads() in conditional code "
    "needs a condition that is the same for the whole block";

// Describes threads that wait at a barrier, in a finding that begins with them.
void describe(const LeftBehind& left, Places& places, Finding& finding) {
  const std::string gone = plural(left.missing, "thread");
  const bool one = left.missing == 1;
  finding.sentence = fmt::format(
      "threads wait at a barrier of the block {} {} {} {}: no path leads from where {} now back to "
      "the barrier",
      left.last ? "in a loop that" : "that", gone, one ? "has" : "have",
      left.last ? "left for good" : "gone past", one ? "it is" : "they are");
  finding.there.push_back(
      places.party(left.gone, fmt::format("{} behind the barrier, and waits here ({})",
                                          left.last ? "has left the loop" : "is", gone)));
  if (left.last)
    finding.there.push_back(places.party(*left.last, "arrived at the barrier the last time"));
  finding.remedy =
      "let all threads of the block go through the barrier the same number of times: end the loop "
      "by a condition that is the same for all of them (__syncthreads_or() of each thread's own), "
      "or use a barrier with a count for those that stay (bar.sync)";
  finding.rule = divergent_barrier_rule;
}

// A finding that is being written. It begins with the root, which waits.
struct StuckDraft {
  Places& places;
  const Standstill& still;
  Finding finding{};

  const Wait& wait() const { return still.root().first.wait; }
  const MbarrierHistory& mbarrier() const { return *still.root().mbarrier; }
  const MbarrierPhase& phase() const { return mbarrier().current(); }
  std::string exits() const {
    const std::uint32_t exited = still.exited(wait().who.block);
    if (exited == 0) return "";
    return fmt::format("; {} of the block {} exited", plural(exited, "thread"),
                       exited == 1 ? "has" : "have");
  }
  // The mbarrier's name. The finding is then about its bytes.
  std::string name() {
    const MbarrierPlace at{wait().who.block, wait().id};
    finding.bytes = bytes_of(at, wait().who, places);
    return name_of(at, wait().who, places);
  }
  void list(const std::vector<Contribution>& all, std::string_view verb, std::string_view unit) {
    for (Party& each : parties_of(all, verb, unit, places))
      finding.there.push_back(std::move(each));
  }
  // Puts the finding where bytes are expected, if they are, and the wait beside it.
  void at_expect() {
    std::vector<Party> expects = parties_of(phase().expects, "expects", "byte", places);
    if (expects.empty()) return;
    finding.there.push_back(std::move(finding.here));
    finding.here = std::move(expects.front());
  }
};

void endless_loop(StuckDraft& d) {
  if (d.wait().id != 0) {
    d.finding.sentence =
        "threads repeat a loop for ever: no branch leads out of it, and no instruction in it ends "
        "the thread, so the kernel never ends" +
        d.exits();
    d.finding.remedy =
        "give the loop a condition that ends it, which depends on what it computes or reads (a "
        "constant condition is none, nor one that the compiler can decide)";
    d.finding.rule =
        "CUDA C++ Programming Guide: a kernel is complete once all of its threads have ended";
    return;
  }
  d.finding.sentence =
      "threads repeat a loop for ever that has no way out: it neither reads memory nor waits" +
      d.exits();
  d.finding.remedy =
      "if the loop polls a variable, read it with cuda::atomic_ref, ld.acquire or, with a fence "
      "behind the loop, volatile: the compiler reads a plain variable once and takes the read out "
      "of the loop";
}

void registers(StuckDraft& d) {
  d.finding.sentence =
      "threads wait for ever for registers: setmaxnreg.inc takes registers that setmaxnreg.dec "
      "returned to their block's pool, and threads that exit return none" +
      d.exits();
  d.finding.remedy =
      "keep the total number of registers of all threads at or below the total at the start";
}

void lacking_bytes(StuckDraft& d) {
  const std::uint64_t expected = d.phase().bytes_expected(), came = d.phase().bytes_completed();
  d.finding.sentence = fmt::format(
      "phase {} of {} expects {} bytes; {} have arrived and no copy delivers the other {}: its "
      "threads wait for ever",
      d.phase().number, d.name(), expected, came, d.mbarrier().tx_count());
  d.at_expect();
  d.list(d.phase().completed, "issues copies of", "byte");
  d.finding.remedy = fmt::format(
      "expect {} bytes instead of {}, or issue copies of {} more bytes on this mbarrier", came,
      expected, d.mbarrier().tx_count());
}

void lacking_arrival(StuckDraft& d) {
  d.finding.sentence = fmt::format(
      "phase {} of {} has its bytes, but none of the {} arrivals that it expects: expecting bytes "
      "(mbarrier.expect_tx) is not an arrival",
      d.phase().number, d.name(), d.phase().expected);
  d.at_expect();
  d.finding.remedy =
      "arrive as well: mbarrier.arrive.expect_tx instead of mbarrier.expect_tx, or "
      "mbarrier.arrive after it";
}

void left_behind(StuckDraft& d) { describe(d.still.left_behind(), d.places, d.finding); }

void overrun(StuckDraft& d) {
  const std::uint64_t phase = d.phase().number;
  d.finding.sentence = fmt::format(
      "threads wait for parity {} of {}, that is for phase {}, which they have not seen, but it "
      "and "
      "phase {} are complete: they are two phases behind and wait for ever",
      phase & 1, d.name(), phase - 2, phase - 1);
  d.list(d.mbarrier().previous().arrivals, fmt::format("in phase {}, made", phase - 1), "arrival");
  d.finding.remedy = overrun_remedy(d.finding.there, phase - 1);
}

void lacking_arrivals(StuckDraft& d) {
  const MbarrierPhase& phase = d.phase();
  // cp.async.mbarrier.arrive without .noinc raises the pending count that it later lowers.
  const std::uint64_t all = phase.arrived() + d.mbarrier().pending();
  const std::uint64_t raised = all - std::min<std::uint64_t>(all, phase.expected);
  d.finding.sentence = fmt::format(
      "phase {} of {} expects {} arrivals{} and {} came: no thread is left to make the other {}{}",
      phase.number, d.name(), phase.expected,
      raised ? fmt::format(", and {} more by cp.async.mbarrier.arrive without .noinc", raised) : "",
      phase.arrived(), d.mbarrier().pending(), d.exits());
  if (d.mbarrier().known())
    d.finding.there.push_back(
        d.places.party(d.mbarrier().initialiser(),
                       fmt::format("initialises it with a count of {}", phase.expected)));
  d.list(phase.arrivals, "makes", "arrival");
  d.finding.remedy =
      raised ? "use cp.async.mbarrier.arrive.noinc, whose arrivals are among those that the "
               "mbarrier is initialised with: without .noinc each increases the pending count that "
               "it later decreases; or let the threads also arrive by mbarrier.arrive"
             : fmt::format(
                   "initialise the mbarrier with {} instead of {}, or let the missing threads "
                   "arrive in each phase",
                   phase.arrived(), phase.expected);
}

void wrong_phase(StuckDraft& d) {
  const std::uint64_t phase = d.phase().number;
  d.finding.sentence = fmt::format(
      "threads wait for parity {} of {}, that is for phase {}, for which no thread arrives: they "
      "have not waited for phase {} (parity {}), which is complete",
      phase & 1, d.name(), phase, phase - 1, (phase - 1) & 1);
  if (phase > 1) d.list(d.mbarrier().previous().arrivals, "made", "arrival");
  d.finding.remedy = fmt::format(
      "wait for parity {} here: a thread begins with parity 0 and flips it after each wait for "
      "this mbarrier; and let it arrive in the next phase, so that the next phase cannot complete "
      "before this wait",
      (phase - 1) & 1);
}

void barrier_count(StuckDraft& d) {
  const BarrierPhase& phase = d.still.barrier_of(d.wait());
  d.finding.sentence =
      fmt::format("barrier {} expects {} threads and {} arrived: no other thread can arrive{}",
                  d.wait().id, phase.expected, phase.arrived, d.exits());
  d.finding.remedy = fmt::format("give a count of {} instead of {}, or let the others arrive too",
                                 phase.arrived, phase.expected);
}

constexpr std::string_view complete_barrier_rule =
    "PTX ISA, bar: a phase is complete when as many threads as its count have arrived";

void different_barriers(StuckDraft& d) {
  const bool counted = d.still.expected() != 0;
  d.finding.sentence = fmt::format(
      "threads that must synchronise wait at different barriers or collectives, and each waits for "
      "the others for ever{}",
      d.exits());
  d.finding.remedy =
      counted ? "let the threads that are missing at one of these barriers arrive there "
                "(bar.arrive) before they wait at another: if two groups alternate, one must "
                "arrive at the other's barrier before its own first wait"
              : "let all threads that a barrier or a member mask names execute it: move it out of "
                "the code that only some of them execute";
  if (d.wait().what == Wait::For::collective)
    d.finding.rule =
        "PTX ISA, a collective with .sync waits until all threads of its member mask execute it";
  else if (counted)
    d.finding.rule = complete_barrier_rule;
}

std::string no_progress(const StuckDraft& d, std::string_view why) {
  return fmt::format("no thread of the {} can make progress: {}{}",
                     d.still.blocks() > 1 ? "cluster" : "block", why, d.exits());
}

void list_previous_arrivals(StuckDraft& d) {
  if (d.still.root().mbarrier)
    d.list(d.mbarrier().previous().arrivals, "arrived in the previous phase:", "arrival");
}

void waiting_copier(StuckDraft& d) {
  d.finding.sentence = no_progress(
      d,
      "one waits for arrivals before it issues its next copies, and others wait for those copies");
  list_previous_arrivals(d);
  d.finding.remedy =
      "let the threads that have read what a thread's copies wrote arrive at the mbarrier where "
      "that thread waits, in its block too (mapa)";
}

void circle(StuckDraft& d) {
  d.finding.sentence = no_progress(d, "each waits for another");
  list_previous_arrivals(d);
  d.finding.remedy =
      "find the cycle of waits: one of the threads must arrive before it waits. A producer's first "
      "wait for an empty slot must ask for parity 1: on a new mbarrier it returns at once";
}

struct StuckRow {
  Cause what;
  FindingKind kind;
  void (*write)(StuckDraft&);
  std::string_view rule;
};

constexpr StuckRow stuck_rows[] = {
    {Cause::endless_loop, FindingKind::deadlock, endless_loop,
     "PTX ISA, Memory Consistency Model: what other threads write is seen by strong reads; and "
     "CUDA C++ Programming Guide, volatile: the compiler may keep the value of any other variable "
     "in a register"},
    {Cause::registers, FindingKind::deadlock, registers,
     "PTX ISA, setmaxnreg: .inc waits until the pool of the block has enough registers"},
    {Cause::lacking_bytes, FindingKind::transaction_count, lacking_bytes,
     "PTX ISA, Tracking asynchronous operations by the mbarrier object: a phase is complete when "
     "its tx-count is zero"},
    {Cause::lacking_arrival, FindingKind::arrival_count, lacking_arrival,
     "PTX ISA, mbarrier.expect_tx: it increases the tx-count of the current phase, but not its "
     "pending count"},
    {Cause::left_behind, FindingKind::barrier_divergence, left_behind, divergent_barrier_rule},
    {Cause::overrun, FindingKind::wrong_phase, overrun,
     "PTX ISA, mbarrier.test_wait: it waits for the current phase or the one before"},
    {Cause::lacking_arrivals, FindingKind::arrival_count, lacking_arrivals,
     "PTX ISA, Phase of the mbarrier object: a phase is complete when its pending count is zero"},
    {Cause::wrong_phase, FindingKind::wrong_phase, wrong_phase,
     "PTX ISA, mbarrier.test_wait: it waits for the current phase or the one before"},
    {Cause::barrier_count, FindingKind::arrival_count, barrier_count, complete_barrier_rule},
    {Cause::different_barriers, FindingKind::barrier_divergence, different_barriers,
     divergent_barrier_rule},
    {Cause::waiting_copier, FindingKind::deadlock, waiting_copier,
     "PTX ISA, Parallel Synchronization and Communication Instructions: mbarrier"},
    {Cause::circle, FindingKind::deadlock, circle,
     "PTX ISA, Parallel Synchronization and Communication Instructions: mbarrier"},
};
static_assert(has_row_for_each(stuck_rows));

Finding stuck_finding(const Standstill& still, const StuckRow& row, Places& places) {
  StuckDraft draft{places, still};
  Finding& finding = draft.finding;
  finding.kind = row.kind;
  finding.rule = row.rule;
  finding.here = places.party(draft.wait().who, group_words(still.root(), still, places));
  row.write(draft);
  if (still.cause() == Cause::wrong_phase || still.cause() == Cause::overrun ||
      still.cause() == Cause::left_behind)
    return std::move(finding);
  std::size_t listed = 0;
  for (const Standstill::Group& each : still.groups())
    if (&each != &still.root() && listed++ < most_groups)
      finding.there.push_back(places.party(each.first.wait.who, group_words(each, still, places)));
  return std::move(finding);
}

}  // namespace

bool WaitingWords::add(const LeftBehind& left) {
  Places& places = session_.places;
  const PlaceId here = places.of(left.waits.who);
  session_.findings.add(
      {FindingKind::barrier_divergence, here, no_place, key_of(Rules::standstill)}, [&] {
        Finding finding;
        finding.kind = FindingKind::barrier_divergence;
        finding.here = places.party(
            left.waits.who,
            fmt::format("waits at barrier {} ({})", left.waits.id, plural(left.waiting, "thread")));
        describe(left, places, finding);
        return finding;
      });
  return true;
}

bool WaitingWords::add(const Stuck& stuck, const ClusterState& state) {
  const Standstill still(stuck, state);
  if (still.empty() || state.found) return false;
  if (const auto& doubt = still.doubt()) {
    add(doubt->wait, *doubt->mbarrier, doubt->place);
    return true;
  }
  const StuckRow& row = stuck_rows[static_cast<std::size_t>(still.cause())];
  const PlaceId here = session_.places.of(still.root().first.wait.who);
  session_.findings.add({row.kind, here, no_place, key_of(Rules::standstill)},
                        [&] { return stuck_finding(still, row, session_.places); });
  return true;
}

}  // namespace inflight::check
