// Why threads of a cluster wait for ever: finds the wait that is the root cause of the others.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <tuple>

#include "gpu/check/detect/waiting/phrases.hpp"
#include "gpu/check/detect/waiting/words.hpp"

namespace inflight::check {
namespace {

// What an mbarrier's phase lacks, the most certain cause first.
enum class Lack : std::uint8_t {
  bytes,       // all threads have arrived, and no copy is in flight
  arrival,     // bytes were expected or delivered, and no thread arrived
  arrivals,    // some threads arrived
  passed,      // no thread arrived, and the waiting threads did not wait for the previous phase
  everything,  // no thread arrived
};

// Threads at one instruction that wait for the same thing.
struct Group {
  Stuck::Threads first;
  std::uint32_t threads = 0;
  const MbarrierHistory* mbarrier = nullptr;  // the live mbarrier that it waits for, or null
  Lack lack = Lack::everything;
};

Lack lack_of(const MbarrierHistory& m, std::uint32_t warp) {
  const MbarrierPhase& phase = m.current();
  if (m.pending() == 0 && m.tx_count() > 0 && !m.copies_in_flight()) return Lack::bytes;
  if (!phase.arrivals.empty()) return Lack::arrivals;
  if (!phase.expects.empty() || !phase.completed.empty()) return Lack::arrival;
  return m.seen(warp) + 1 < static_cast<std::int64_t>(phase.number) ? Lack::passed
                                                                    : Lack::everything;
}

std::vector<Group> groups_of(const Stuck& stuck, const ClusterState& state) {
  std::vector<Group> groups;
  std::map<std::tuple<std::uint64_t, std::uint32_t, bool, Wait::For, std::uint32_t, Mask>,
           std::size_t>
      index;
  for (const Stuck::Threads& each : stuck.threads) {
    const Wait& w = each.wait;
    const auto [at, fresh] = index.try_emplace(
        {w.who.block, w.who.instruction, each.polls, w.what, w.id, w.members}, groups.size());
    if (fresh) {
      Group group{each};
      if (w.what == Wait::For::mbarrier && !each.polls) {
        const auto* m = state.find(cluster_place(*state.kernel, w.who.block).rank, w.id);
        if (m && m->live()) group.mbarrier = m;
        if (group.mbarrier) group.lack = lack_of(*m, state.warp(w.who));
      }
      groups.push_back(group);
    }
    groups[at->second].threads += static_cast<std::uint32_t>(std::popcount(w.who.mask));
  }
  return groups;
}

// Does the mbarrier lack bytes from a warp that brought some in the phase before, none in this one,
// and now waits for another mbarrier that lacks arrivals? Then that wait is the cause.
bool waits_for_a_waiting_copier(const Group& group, const std::vector<Group>& groups,
                                const ClusterState& state) {
  if (!group.mbarrier || group.lack != Lack::bytes) return false;
  const auto by = [](const std::vector<Contribution>& copies, std::uint32_t warp) {
    return std::any_of(copies.begin(), copies.end(),
                       [&](const Contribution& each) { return each.warp == warp; });
  };
  return std::any_of(groups.begin(), groups.end(), [&](const Group& other) {
    if (!other.mbarrier || other.mbarrier == group.mbarrier || other.lack == Lack::bytes)
      return false;
    const std::uint32_t warp = state.warp(other.first.wait.who);
    return by(group.mbarrier->previous().completed, warp) &&
           !by(group.mbarrier->current().completed, warp);
  });
}

std::string threads(std::uint64_t count) {
  return fmt::format("{} thread{}", count, count == 1 ? "" : "s");
}

// The number of a block's threads that have not exited.
std::uint32_t living(const std::vector<Group>& groups, std::uint64_t block) {
  std::uint32_t count = 0;
  for (const Group& each : groups)
    if (each.first.wait.who.block == block) count += each.threads;
  return count;
}

bool waits_for_registers(const Wait& w) { return w.what == Wait::For::warpgroup && w.members == 0; }

using Name = std::function<std::string(const MbarrierPlace&, const Who&)>;

std::string words(const Group& group, const std::vector<Group>& all, const ClusterState& state,
                  const Name& name) {
  const Wait& w = group.first.wait;
  const std::string who = threads(group.threads);
  if (group.first.polls) return fmt::format("polls ({})", who);
  switch (w.what) {
    case Wait::For::barrier: {
      if (w.kind == BarrierKind::cluster)
        return fmt::format("waits at the cluster's barrier ({})", who);
      const auto& phase =
          state.barriers[cluster_place(*state.kernel, w.who.block).rank].phase(w.id);
      return fmt::format("waits at barrier {} ({}), where {} of {} threads have arrived", w.id, who,
                         phase.arrived, phase.expected ? phase.expected : living(all, w.who.block));
    }
    case Wait::For::mbarrier: {
      if (!group.mbarrier) return fmt::format("waits for an mbarrier ({})", who);
      const MbarrierPhase& phase = group.mbarrier->current();
      std::string text =
          fmt::format("waits for phase {} (parity {}) of {} ({}), which has {} of {} arrivals",
                      phase.number, phase.number & 1, name({w.who.block, w.id}, w.who), who,
                      phase.arrived(), phase.arrived() + group.mbarrier->pending());
      if (group.mbarrier->tx_count() > 0)
        text += fmt::format(" and lacks {} bytes", group.mbarrier->tx_count());
      return text;
    }
    case Wait::For::collective:
      return fmt::format("waits for the lanes of member mask 0x{:08x} ({})", w.members, who);
    case Wait::For::warpgroup:
      if (waits_for_registers(w))
        return fmt::format("waits for more registers than its block has left (setmaxnreg.inc) ({})",
                           who);
      return fmt::format("waits for a wgmma that other warps of its warpgroup have not issued ({})",
                         who);
    case Wait::For::nothing:
      return fmt::format("repeats for ever a loop that has no way out ({})", who);
    default:
      return fmt::format("sleeps ({})", who);
  }
}

constexpr std::size_t most_groups = 6;

}  // namespace

bool WaitingWords::add(const Stuck& stuck, const ClusterState& state) {
  std::vector<Group> groups = groups_of(stuck, state);
  if (groups.empty() || state.found) return false;
  const auto starved = std::find_if(groups.begin(), groups.end(), [](const Group& g) {
    return waits_for_registers(g.first.wait);
  });
  const auto endless = std::find_if(groups.begin(), groups.end(), [](const Group& g) {
    return g.first.wait.what == Wait::For::nothing;
  });
  const auto root =
      endless != groups.end() ? endless
      : starved != groups.end()
          ? starved
          : std::min_element(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
              const auto rank = [&](const Group& g) {
                const int doubts = waits_for_a_waiting_copier(g, groups, state) ? 2
                                   : !g.mbarrier || g.lack == Lack::everything  ? 1
                                                                                : 0;
                return std::pair(doubts, g.lack);
              };
              return rank(a) < rank(b);
            });
  if (root->mbarrier && root->lack >= Lack::passed) {
    // A thread that passed a fresh mbarrier at once and now waits for its first phase may be right:
    // a producer does so. It is doubtful if another mbarrier's phase was completed without it.
    const auto waits_for = [&](const MbarrierHistory& m) {
      return std::any_of(groups.begin(), groups.end(),
                         [&](const Group& each) { return each.mbarrier == &m; });
    };
    for (const auto& [at, history] : state.mbarriers) {
      const bool fresh = root->lack == Lack::passed && root->mbarrier != &history;
      const auto doubt =
          history.live() ? history.doubtful_wait(fresh && waits_for(history)) : std::nullopt;
      if (!doubt) continue;
      add(*doubt, history, {doubt->who.block, at.second});
      return true;
    }
  }
  const bool certain = root->mbarrier && root->lack != Lack::everything;
  const auto waits_elsewhere = [](const Group& g) {
    return g.first.polls || g.first.wait.what == Wait::For::mbarrier ||
           g.first.wait.what == Wait::For::sleep;
  };
  const bool at_barriers = std::none_of(groups.begin(), groups.end(), waits_elsewhere);

  Places& places = session_.places;
  const Wait& wait = root->first.wait;
  Finding f;
  const Name named_as = [this](const MbarrierPlace& at, const Who& who) {
    return name_of(at, who, session_.places);
  };
  f.here = places.party(wait.who, words(*root, groups, state, named_as));
  std::vector<Party> first;  // before the other groups
  FindingKind kind = FindingKind::deadlock;
  const std::uint32_t live = living(groups, wait.who.block);
  const std::string gone =
      live < state.block_threads
          ? fmt::format("; {} of the block {} exited", threads(state.block_threads - live),
                        state.block_threads - live == 1 ? "has" : "have")
          : "";
  if (endless != groups.end()) {
    f.sentence =
        "threads repeat a loop for ever that has no way out: it neither reads memory nor waits" +
        gone;
    f.remedy =
        "if the loop polls a variable, read it with cuda::atomic_ref, ld.acquire or, with a fence "
        "behind the loop, volatile: the compiler reads a plain variable once and takes the read "
        "out of the loop";
    f.rule =
        "PTX ISA, Memory Consistency Model: what other threads write is seen by strong reads; and "
        "CUDA C++ Programming Guide, volatile: the compiler may keep the value of any other "
        "variable in a register";
  } else if (starved != groups.end()) {
    f.sentence =
        "threads wait for ever for registers: setmaxnreg.inc takes registers that setmaxnreg.dec "
        "returned to their block's pool, and threads that exit return none" +
        gone;
    f.remedy =
        "keep the total number of registers of all threads at or below the total at the start";
    f.rule = "PTX ISA, setmaxnreg: .inc waits until the pool of the block has enough registers";
  } else if (certain) {
    const MbarrierHistory& m = *root->mbarrier;
    const MbarrierPhase& phase = m.current();
    const MbarrierPlace at{wait.who.block, wait.id};
    const std::string it = name_of(at, wait.who, places);
    f.bytes = bytes_of(at, wait.who, places);
    const auto join = [&](std::vector<Party> more) {
      std::move(more.begin(), more.end(), std::back_inserter(first));
    };
    switch (root->lack) {
      case Lack::bytes: {
        kind = FindingKind::transaction_count;
        const std::uint64_t expected = phase.bytes_expected(), came = phase.bytes_completed();
        f.sentence = fmt::format(
            "phase {} of {} expects {} bytes; {} have arrived and no copy delivers the other {}: "
            "its threads wait for ever",
            phase.number, it, expected, came, m.tx_count());
        std::vector<Party> expects = parties_of(phase.expects, "expects", "byte", places);
        if (!expects.empty()) {
          first.push_back(std::move(f.here));
          f.here = std::move(expects.front());
        }
        join(parties_of(phase.completed, "issues copies of", "byte", places));
        f.remedy = fmt::format(
            "expect {} bytes instead of {}, or issue copies of {} more bytes on this mbarrier",
            came, expected, m.tx_count());
        f.rule =
            "PTX ISA, Tracking asynchronous operations by the mbarrier object: a phase is "
            "complete when its tx-count is zero";
        break;
      }
      case Lack::arrival: {
        kind = FindingKind::arrival_count;
        f.sentence = fmt::format(
            "phase {} of {} has its bytes, but none of the {} arrivals that it expects: expecting "
            "bytes (mbarrier.expect_tx) is not an arrival",
            phase.number, it, phase.expected);
        std::vector<Party> expects = parties_of(phase.expects, "expects", "byte", places);
        if (!expects.empty()) {
          first.push_back(std::move(f.here));
          f.here = std::move(expects.front());
        }
        f.remedy =
            "arrive as well: mbarrier.arrive.expect_tx instead of mbarrier.expect_tx, or "
            "mbarrier.arrive after it";
        f.rule =
            "PTX ISA, mbarrier.expect_tx: it increases the tx-count of the current phase, but not "
            "its pending count";
        break;
      }
      case Lack::arrivals: {
        kind = FindingKind::arrival_count;
        // cp.async.mbarrier.arrive without .noinc raises the pending count that it later lowers.
        const std::uint64_t all = phase.arrived() + m.pending();
        const std::uint64_t raised = all - std::min<std::uint64_t>(all, phase.expected);
        f.sentence = fmt::format(
            "phase {} of {} expects {} arrivals{} and {} came: no thread is left to make the other "
            "{}{}",
            phase.number, it, phase.expected,
            raised ? fmt::format(", and {} more by cp.async.mbarrier.arrive without .noinc", raised)
                   : "",
            phase.arrived(), m.pending(), gone);
        if (m.known())
          first.push_back(places.party(
              m.initialiser(), fmt::format("initialises it with a count of {}", phase.expected)));
        join(parties_of(phase.arrivals, "makes", "arrival", places));
        f.remedy =
            raised
                ? "use cp.async.mbarrier.arrive.noinc, whose arrivals are among those that the "
                  "mbarrier is initialised with: without .noinc each increases the pending count "
                  "that it later decreases; or let the threads also arrive by mbarrier.arrive"
                : fmt::format(
                      "initialise the mbarrier with {} instead of {}, or let the missing threads "
                      "arrive in each phase",
                      phase.arrived(), phase.expected);
        f.rule =
            "PTX ISA, Phase of the mbarrier object: a phase is complete when its pending count "
            "is zero";
        break;
      }
      default:
        kind = FindingKind::wrong_phase;
        f.sentence = fmt::format(
            "threads wait for parity {} of {}, that is for phase {}, for which no thread arrives: "
            "they have not waited for phase {} (parity {}), which is complete",
            phase.number & 1, it, phase.number, phase.number - 1, (phase.number - 1) & 1);
        if (phase.number > 1) join(parties_of(m.previous().arrivals, "made", "arrival", places));
        f.remedy = fmt::format(
            "wait for parity {} here: a thread begins with parity 0 and flips it after each wait "
            "for this mbarrier; and let it arrive in the next phase, so that the next phase cannot "
            "complete before this wait",
            (phase.number - 1) & 1);
        f.rule = "PTX ISA, mbarrier.test_wait: it waits for the current phase or the one before";
        break;
    }
  } else if (at_barriers) {
    const bool alone = groups.size() == 1;
    const bool named = wait.what == Wait::For::barrier && wait.kind == BarrierKind::cta;
    const std::uint32_t expected =
        named ? state.barriers[cluster_place(*state.kernel, wait.who.block).rank]
                    .phase(wait.id)
                    .expected
              : 0;
    if (alone && expected != 0) {
      const auto& phase =
          state.barriers[cluster_place(*state.kernel, wait.who.block).rank].phase(wait.id);
      kind = FindingKind::arrival_count;
      f.sentence =
          fmt::format("barrier {} expects {} threads and {} arrived: no other thread can arrive{}",
                      wait.id, phase.expected, phase.arrived, gone);
      f.remedy = fmt::format("give a count of {} instead of {}, or let the others arrive too",
                             phase.arrived, phase.expected);
      f.rule = "PTX ISA, bar: a phase is complete when as many threads as its count have arrived";
    } else {
      kind = FindingKind::barrier_divergence;
      f.sentence = fmt::format(
          "threads that must synchronise wait at different barriers or collectives, and each waits "
          "for the others for ever{}",
          gone);
      f.remedy =
          expected != 0
              ? "let the threads that are missing at one of these barriers arrive there "
                "(bar.arrive) before they wait at another: if two groups alternate, one must "
                "arrive at the other's barrier before its own first wait"
              : "let all threads that a barrier or a member mask names execute it: move it out of "
                "the code that only some of them execute";
      f.rule = wait.what == Wait::For::collective
                   ? "PTX ISA, a collective with .sync waits until all threads of its member mask "
                     "execute it"
               : expected != 0
                   ? "PTX ISA, bar: a phase is complete when as many threads as its count have "
                     "arrived"
                   : "CUDA C++ Programming Guide, Synchronization Functions: __syncthreads() in "
                     "conditional code needs a condition that is the same for the whole block";
    }
  } else {
    const bool copies =
        root->mbarrier && std::any_of(groups.begin(), groups.end(), [&](auto& each) {
          return waits_for_a_waiting_copier(each, groups, state);
        });
    f.sentence =
        fmt::format("no thread of the {} can make progress: ",
                    state.size > 1 ? "cluster" : "block") +
        (copies ? "one waits for arrivals before it copies on, and others wait for its copies"
                : "each waits for another") +
        gone;
    if (root->mbarrier)
      first = parties_of(root->mbarrier->previous().arrivals,
                         "arrived in the previous phase:", "arrival", places);
    f.remedy =
        copies
            ? "let the threads that have read what a thread's copies wrote arrive at the mbarrier "
              "where that thread waits, in its block too (mapa)"
            : "find the cycle of waits: one of the threads must arrive before it waits. A "
              "producer's "
              "first wait for an empty slot must ask for parity 1: on a new mbarrier it returns at "
              "once";
    f.rule = "PTX ISA, Parallel Synchronization and Communication Instructions: mbarrier";
  }
  f.kind = kind;
  f.there = std::move(first);
  std::size_t listed = 0;
  if (kind != FindingKind::wrong_phase)
    for (const Group& each : groups)
      if (&each != &*root && listed++ < most_groups)
        f.there.push_back(places.party(each.first.wait.who, words(each, groups, state, named_as)));
  session_.findings.add({kind, places.of(wait.who), no_place, key_of(Rules::standstill)},
                        [&] { return std::move(f); });
  return true;
}

}  // namespace inflight::check
