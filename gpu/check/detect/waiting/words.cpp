// The text of findings about single mistakes with mbarriers and barriers, and how to fix them.
#include "gpu/check/detect/waiting/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "gpu/async/mbarrier.hpp"
#include "gpu/check/names.hpp"

namespace inflight::check {
namespace {

using async::Violation;
using Of = MbarrierBreach::What;
using OfBarrier = BarrierBreach::What;

constexpr std::size_t most_parties = 6;

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

FindingKind kind_of(const MbarrierBreach& breach) {
  switch (breach.what) {
    case Of::broken_rule:
      return kind_of(breach.violation);
    case Of::stray_arrival:
      return FindingKind::arrival_count;
    case Of::stray_bytes:
    case Of::late_expect:
      return FindingKind::transaction_count;
    case Of::repeated_wait:
    case Of::stale_token:
      return FindingKind::wrong_phase;
    default:
      return FindingKind::barrier_misuse;
  }
}

std::string_view rule_of(Of what) {
  switch (what) {
    case Of::initialised_again:
      return "PTX ISA, mbarrier.init: initialising a valid mbarrier again is undefined";
    case Of::invalidated_in_use:
    case Of::used_after_inval:
      return "PTX ISA, mbarrier.inval: only mbarrier.init may operate on memory that is not a "
             "valid mbarrier";
    case Of::stray_arrival:
      return "PTX ISA, Phase of the mbarrier object: a phase is complete after the expected number "
             "of arrivals";
    case Of::stray_bytes:
      return "PTX ISA, Tracking asynchronous operations by the mbarrier object: a phase is "
             "complete "
             "when its tx-count is zero";
    case Of::late_expect:
      return "PTX ISA, mbarrier.expect_tx: it raises the tx-count of the current phase";
    case Of::repeated_wait:
    case Of::stale_token:
      return "PTX ISA, mbarrier.test_wait: it waits for the current phase or the one before";
    default:
      return "PTX ISA, Parallel Synchronization and Communication Instructions: mbarrier";
  }
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// The arrivals of a phase by warps of which a thread arrived more than once in it.
std::vector<Contribution> repeated(const std::vector<Contribution>& arrivals) {
  std::vector<Contribution> result;
  for (const Contribution& one : arrivals) {
    const auto lanes = static_cast<std::uint64_t>(std::popcount(one.who.mask));
    const auto overlaps = [&](const Contribution& each) {
      return &each != &one && each.warp == one.warp && (each.who.mask & one.who.mask) != 0;
    };
    if (one.amount > lanes || std::any_of(arrivals.begin(), arrivals.end(), overlaps))
      result.push_back(one);
  }
  return result;
}

}  // namespace

std::string WaitingWords::name(const MbarrierPlace& at, const Who& who) {
  const Bytes b = bytes(at, who);
  return b.variable.empty() ? fmt::format("the mbarrier at shared offset 0x{:x}", at.address)
                            : fmt::format("the mbarrier '{}'{}", readable(b.variable),
                                          b.offset ? fmt::format(" + {}", b.offset) : "");
}

Bytes WaitingWords::bytes(const MbarrierPlace& at, const Who& who) {
  return session_.places.bytes(who, Space::shared, at.address, async::mbarrier::size);
}

// One party per instruction, in the order of the code.
std::vector<Party> WaitingWords::parties(std::vector<Contribution> all, std::string_view verb,
                                         std::string_view unit) {
  std::stable_sort(all.begin(), all.end(), [](const Contribution& a, const Contribution& b) {
    return a.who.instruction < b.who.instruction;
  });
  std::vector<Party> result;
  for (std::size_t i = 0; i < all.size();) {
    std::uint64_t amount = 0;
    const Contribution& first = all[i];
    for (; i < all.size() && all[i].who.instruction == first.who.instruction; ++i)
      amount += all[i].amount;
    if (result.size() == most_parties) break;
    result.push_back(
        session_.places.party(first.who, fmt::format("{} {}", verb, plural(amount, unit))));
  }
  return result;
}

void WaitingWords::add(const MbarrierBreach& breach, const MbarrierHistory& history,
                       const MbarrierPlace& at) {
  Places& places = session_.places;
  const FindingKind kind = kind_of(breach);
  const bool at_expect = breach.what == Of::stray_bytes && !breach.expects.empty();
  Who here = breach.who;
  if (at_expect)
    here = breach.expects.front().who;
  else if (breach.what == Of::stray_bytes && !breach.others.empty())
    here = breach.others.front().who;
  const std::uint64_t more = key_of(breach.what, breach.violation);
  session_.findings.add({kind, places.of(here), no_place, more}, [&] {
    Finding f;
    f.kind = kind;
    f.bytes = bytes(at, here);
    f.rule = rule_of(breach.what);
    const std::string it = name(at, here);
    const auto initialiser = [&] {
      if (history.known())
        f.there.push_back(places.party(
            history.initialiser(),
            fmt::format("initialises it with a count of {}", history.current().expected)));
    };
    const auto others = [&](std::string_view verb, std::string_view unit) {
      for (Party& each : parties(breach.others, verb, unit)) f.there.push_back(std::move(each));
    };
    const std::uint64_t phase = breach.number;
    switch (breach.what) {
      case Of::broken_rule:
        f.here = places.party(here, "operates on an mbarrier");
        if (breach.violation == Violation::too_many_arrivals) {
          f.sentence = fmt::format("{} at {}, but its phase {} expects only {} more of {}",
                                   plural(breach.came, "arrival"), it, phase, history.pending(),
                                   breach.expected);
          f.here.did = "arrives at the mbarrier";
          initialiser();
          others("makes", "arrival");
          f.remedy = fmt::format(
              "initialise the mbarrier with the number of arrivals of a phase (at least {}), or "
              "wait "
              "for phase {} before this arrival",
              history.current().arrived() + breach.came, phase);
        } else if (breach.violation == Violation::not_initialised) {
          f.sentence = fmt::format(
              "an operation on {}, which is not an mbarrier: it was never initialised, or was "
              "overwritten later",
              it);
          f.remedy =
              "initialise it in one thread (mbarrier.init), then synchronise all its users at a "
              "barrier before they use it";
        } else {
          f.sentence = fmt::format("an operation on {} breaks a rule: {}", it,
                                   async::sentence(breach.violation));
        }
        break;
      case Of::initialised_again:
        f.sentence = fmt::format("{} is initialised while it is a valid mbarrier", it);
        f.here = places.party(here, "initialises the mbarrier");
        f.there.push_back(places.party(breach.others.front().who, "initialised it before"));
        f.remedy =
            "let one thread initialise it once, or invalidate it first (mbarrier.inval), when no "
            "thread uses it any more";
        break;
      case Of::invalidated_in_use:
        f.sentence =
            fmt::format("{} is invalidated while copies that complete on it are in flight", it);
        f.here = places.party(here, "invalidates the mbarrier");
        others("issues a copy of", "byte");
        f.remedy = "wait for the phase that these copies complete before mbarrier.inval";
        break;
      case Of::used_after_inval:
        f.sentence = fmt::format("{} is used after it was invalidated", it);
        f.here = places.party(here, "operates on the mbarrier");
        f.there.push_back(places.party(breach.others.front().who, "invalidated it"));
        f.remedy = "synchronise all its users at a barrier before mbarrier.inval";
        break;
      case Of::stray_arrival: {
        f.sentence = fmt::format(
            "phase {} of {} is complete without this arrival: it expects {}, so this one counts "
            "for the next phase, but its thread is not synchronised with the start of that phase",
            phase - 1, it, plural(breach.expected, "arrival"));
        f.here = places.party(here, "arrives at the mbarrier");
        initialiser();
        const std::vector<Contribution> again = repeated(breach.others);
        if (again.empty()) {
          f.remedy = fmt::format(
              "initialise the mbarrier with the number of arrivals of a phase, at least {} instead "
              "of {}; or let a thread arrive again only after it has observed that phase {} is "
              "complete",
              std::max(breach.came, breach.expected + 1), breach.expected, phase - 1);
          break;
        }
        for (Party& each : parties(again, fmt::format("in phase {}, makes", phase - 1), "arrival"))
          f.there.push_back(std::move(each));
        f.remedy = fmt::format(
            "let a thread arrive again only after it has observed that the phase of its last "
            "arrival is complete; or, if it may arrive more than once in a phase, initialise the "
            "mbarrier with at least {} instead of {}",
            std::max(breach.came, breach.expected + 1), breach.expected);
        break;
      }
      case Of::stray_bytes:
        f.sentence =
            at_expect ? fmt::format(
                            "phase {} of {} expects {}, but copies of {} complete on it: it can "
                            "be complete while some of them are in flight",
                            phase, it, plural(breach.expected, "byte"), plural(breach.came, "byte"))
                      : fmt::format(
                            "copies of {} complete on {}, whose phase {} expects no bytes: it can "
                            "be complete while they are in flight",
                            plural(breach.came, "byte"), it, phase);
        f.here = places.party(here, at_expect
                                        ? fmt::format("expects {}", plural(breach.expected, "byte"))
                                        : fmt::format("issues a copy that completes on it"));
        others("issues copies of", "byte");
        if (!at_expect && !f.there.empty()) f.there.erase(f.there.begin());
        f.remedy = fmt::format(
            "expect {} (mbarrier.arrive.expect_tx) in this phase{}; or, if one of these copies "
            "belongs to another phase or mbarrier, issue it there",
            plural(breach.came, "byte"),
            at_expect ? fmt::format(" instead of {}", breach.expected) : "");
        break;
      case Of::repeated_wait:
        f.here = places.party(here, fmt::format("waits for parity {}", breach.parity));
        if (breach.uncounted) {
          f.sentence = fmt::format(
              "a wait for parity {} of {} returns at once in its first phase, and nothing that "
              "completes this phase waits for the thread, as it does for others at the same wait: "
              "the thread may fall two phases behind and then wait for ever",
              breach.parity, it);
          f.remedy =
              "let only the warp wait here whose copies or arrivals follow, or let the other warps "
              "arrive with it and raise the count";
          break;
        }
        f.sentence =
            phase == 0
                ? fmt::format(
                      "a wait for parity {} of {} returns at once: the mbarrier is still in its "
                      "first phase, which has parity 0",
                      breach.parity, it)
                : fmt::format(
                      "a wait for parity {} of {} returns at once: it asks for phase {}, which the "
                      "thread has waited for before, while phase {} (parity {}) is under way",
                      breach.parity, it, phase - 1, phase, phase & 1);
        if (phase != 0) others("makes", "arrival");
        f.remedy = fmt::format(
            "wait for parity {} here: a thread begins with parity 0 and flips it after each wait "
            "for "
            "this mbarrier",
            phase & 1);
        break;
      case Of::stale_token:
        f.sentence = fmt::format(
            "a wait for {} uses a token of an earlier phase: no arrival of phase {} returned it",
            it, phase);
        f.here = places.party(here, "waits for the token's phase");
        others("makes", "arrival");
        f.remedy = "wait with the token that the arrival in this phase returned";
        break;
      case Of::late_expect:
        f.sentence = fmt::format(
            "phase {} of {} may be complete before it is told of these bytes: no thread arrives "
            "after this expect_tx",
            phase, it);
        f.here = places.party(here, "expects more bytes");
        others("makes", "arrival");
        f.remedy =
            "expect the bytes before the thread's own arrival in the phase: issue the copies "
            "(memcpy_async), then arrive";
        break;
    }
    return f;
  });
}

void WaitingWords::add(const BarrierBreach& breach) {
  Places& places = session_.places;
  FindingKind kind = FindingKind::barrier_misuse;
  if (breach.what == OfBarrier::stray_arrival || breach.what == OfBarrier::arrived_twice)
    kind = FindingKind::arrival_count;
  if (breach.what == OfBarrier::warp_parted || breach.what == OfBarrier::others_ended ||
      breach.what == OfBarrier::others_passed || breach.what == OfBarrier::gone_past)
    kind = FindingKind::barrier_divergence;
  // 0: a fault with the same kind and place follows counts_differ and must get the same key.
  const std::uint64_t more = breach.what == OfBarrier::counts_differ
                                 ? 0
                                 : key_of(Rules::barrier, static_cast<std::uint64_t>(breach.what));
  session_.findings.add({kind, places.of(breach.who), no_place, more}, [&] {
    Finding f;
    f.kind = kind;
    f.here = places.party(breach.who, fmt::format("arrives at barrier {}", breach.id));
    const auto other = [&](std::string_view did) {
      if (!breach.others.empty())
        f.there.push_back(places.party(breach.others.front().who, std::string(did)));
    };
    switch (breach.what) {
      case OfBarrier::arrived_twice:
        f.sentence =
            fmt::format("threads arrive twice at barrier {} in one phase, which expects {} threads",
                        breach.id, breach.count);
        other("arrived in this phase before");
        f.remedy =
            "before a thread arrives again, synchronise it with the completion of the previous "
            "phase (bar.sync at another barrier), or correct the count";
        f.rule = "PTX ISA, bar: a thread arrives once in a phase";
        break;
      case OfBarrier::counts_differ: {
        const auto words = [](std::uint32_t count) {
          return count ? fmt::format("a count of {}", count) : "no count (the whole block)";
        };
        f.sentence = fmt::format(
            "threads arrive at barrier {} with {}, and others in the same phase with {}", breach.id,
            words(breach.count), words(breach.came));
        f.here.did += fmt::format(" with {}", words(breach.count));
        other(fmt::format("arrived with {}", words(breach.came)));
        f.remedy =
            "give the same count in both: the number of all threads that take part, those that "
            "wait (bar.sync) and those that only arrive (bar.arrive); or use another barrier "
            "number for threads that need not synchronise with these";
        f.rule = "PTX ISA, bar: all threads of a barrier's phase give the same count";
        break;
      }
      case OfBarrier::not_whole_warps:
        f.sentence = fmt::format(
            "barrier {} is given a count of {} threads, which is not a multiple of the warp size",
            breach.id, breach.count);
        f.remedy = fmt::format("give {}: a count is a multiple of 32 threads",
                               (breach.count + lanes - 1) / lanes * lanes);
        f.rule = "PTX ISA, bar: the count of threads is a multiple of the warp size";
        break;
      case OfBarrier::stray_arrival:
        f.sentence = fmt::format(
            "more threads arrive at barrier {} than its count of {}: a phase is complete without "
            "these threads, and they are not synchronised with its completion",
            breach.id, breach.count);
        other("arrived in the previous phase");
        f.remedy = fmt::format(
            "give the count of all threads that arrive there (at least {} instead of {}), or give "
            "each group of threads its own barrier",
            breach.came, breach.count);
        f.rule = "PTX ISA, bar: a phase is complete when as many threads as its count have arrived";
        break;
      case OfBarrier::warp_parted:
        f.sentence = fmt::format(
            "threads of one warp arrive at barrier {} at different instructions", breach.id);
        other(fmt::format("arrive at barrier {} here", breach.id));
        f.remedy =
            "let all threads of the warp execute the same barrier: move it (__syncthreads()) "
            "out of the code that only some of them execute";
        f.rule =
            "PTX ISA, bar: with .aligned, all threads of the warp execute the same instruction";
        break;
      case OfBarrier::others_ended:
        f.sentence = fmt::format(
            "{} of the block's {} threads arrive at a barrier of the whole block; the others "
            "bypassed it and exited",
            breach.came, breach.count);
        f.remedy =
            "let all threads of the block execute the same barrier: move it (__syncthreads()) out "
            "of the code that only some of them execute";
        f.rule =
            "CUDA Programming Guide, Synchronization Functions: __syncthreads() in conditional "
            "code only if all threads of the block take the same branch";
        break;
      case OfBarrier::others_passed:
        f.sentence =
            "threads pass a barrier of the whole block without the others, which passed it before, "
            "while these were at another barrier, and exited";
        other("was at this barrier meanwhile");
        f.there.push_back(places.party(breach.others.back().who, "passed it, and exited"));
        f.remedy =
            "let all threads of the block execute the same barriers: remove the one "
            "(__syncthreads()) that only some of them execute, or let the others execute it too";
        f.rule =
            "CUDA Programming Guide, Synchronization Functions: __syncthreads() in conditional "
            "code only if all threads of the block take the same branch";
        break;
      case OfBarrier::cluster_arrived_twice:
        f.sentence = "threads arrive twice at the cluster's barrier without a wait between";
        f.here.did = "arrives at the cluster's barrier";
        other("arrived before");
        f.remedy =
            "let barrier.cluster.wait (cluster.barrier_wait()) follow each "
            "barrier.cluster.arrive";
        f.rule =
            "PTX ISA, barrier.cluster: a thread that has arrived waits before it arrives again";
        break;
      case OfBarrier::cluster_wait_alone:
        f.sentence = "threads wait at the cluster's barrier without having arrived";
        f.here.did = "waits at the cluster's barrier";
        f.remedy = "let barrier.cluster.arrive come before barrier.cluster.wait";
        f.rule = "PTX ISA, barrier.cluster: a thread arrives before it waits";
        break;
      case OfBarrier::left_out:
        f.sentence = fmt::format(
            "threads execute a collective with the member mask 0x{:08x}, which leaves them out",
            breach.members);
        f.here.did = "takes part with a mask that leaves it out";
        f.remedy =
            "let the mask name every lane that executes the instruction (__activemask() does not "
            "return which lanes will execute it)";
        f.rule = fmt::format("PTX ISA, {}: the executing thread is in the member mask",
                             f.here.place.instruction);
        break;
      case OfBarrier::gone_past:
        f.sentence = fmt::format(
            "the member mask 0x{:08x} names {} that bypassed this instruction and exited: lanes "
            "0x{:08x}",
            breach.members, plural(std::popcount(breach.absent), "lane"), breach.absent);
        f.here.did = "takes part with a mask that names absent lanes";
        f.remedy =
            "move it out of the code that only some lanes execute, or let the mask name those that "
            "do: __ballot_sync() of the condition, executed by all lanes before the branch";
        f.rule = fmt::format("PTX ISA, {}: all threads that the member mask names execute it",
                             f.here.place.instruction);
        break;
    }
    return f;
  });
}

}  // namespace inflight::check
