// Threads that look for ever at what nobody changes.
#include <fmt/format.h>

#include <bit>
#include <map>

#include "gpu/check/detect/waiting/words.hpp"

namespace inflight::check {
namespace {

constexpr std::uint64_t many = 1000;         // looks that saw nothing new
constexpr std::uint32_t patience_ms = 5000;  // where another kernel or a copy might change it

const WarpPolls* polls_of(const Stuck::Threads& threads, const ClusterState& state) {
  const auto found = state.polls.find(state.warp(threads.wait.who));
  return found == state.polls.end() ? nullptr : &found->second;
}

bool sees_nothing_new(const WarpPolls* polls) { return polls && polls->repeats() >= many; }

// Who sleeps between two looks polls as well.
bool looks(const Stuck::Threads& threads, const WarpPolls* polls) {
  return threads.polls || (threads.wait.what == Wait::For::sleep && sees_nothing_new(polls));
}

std::string words(const Poll& poll) {
  if (poll.mbarrier) return "tests an mbarrier again and again";
  return fmt::format("reads {} at 0x{:x} of {} memory again and again", poll.value, poll.address,
                     poll.space == Space::shared ? "shared" : "global");
}

}  // namespace

bool WaitingWords::hopeless(const Stuck& stuck, const ClusterState& state,
                            const DeviceMemory& memory, bool alone) const {
  bool polling = false;
  for (const Stuck::Threads& each : stuck.threads) {
    const WarpPolls* const polls = polls_of(each, state);
    if (!looks(each, polls)) {
      if (each.wait.what == Wait::For::sleep) return false;
      continue;
    }
    polling = true;
    if (!sees_nothing_new(polls)) return false;
    const bool unchanged = polls->all_of([&](const Poll& poll) {
      if (poll.mbarrier || poll.space == Space::shared) return true;
      return alone && stuck.idle_ms >= patience_ms && poll.space == Space::global &&
             memory.holds(poll.address);
    });
    if (!unchanged) return false;
  }
  return polling;
}

bool WaitingWords::add_polling(const Stuck& stuck, const ClusterState& state) {
  std::map<std::uint32_t, std::pair<Poll, std::uint32_t>> places;  // by instruction: with threads
  std::vector<Party> others;
  for (const Stuck::Threads& each : stuck.threads) {
    const WarpPolls* const polls = polls_of(each, state);
    if (!looks(each, polls)) {
      if (others.empty())
        others.push_back(session_.places.party(each.wait.who, "waits, as do others"));
      continue;
    }
    if (!sees_nothing_new(polls)) return false;
    Poll poll = *polls->last();
    poll.who.mask = each.wait.who.mask;
    auto& [first, threads] = places.try_emplace(poll.who.instruction, poll, 0u).first->second;
    threads += static_cast<std::uint32_t>(std::popcount(each.wait.who.mask));
  }
  if (places.empty()) return false;
  const auto& [poll, threads] = places.begin()->second;
  Finding f;
  f.kind = FindingKind::deadlock;
  f.sentence =
      fmt::format("{} thread{} of block {} look{} again and again at what nobody changes any more",
                  threads, threads == 1 ? "" : "s", poll.who.block, threads == 1 ? "s" : "");
  if (stuck.not_begun != 0)
    f.sentence += fmt::format(
        ": {} blocks of the launch have not begun, since those that wait leave no room for them",
        stuck.not_begun);
  f.here = session_.places.party(poll.who, words(poll));
  f.bytes = session_.places.bytes(poll.who, poll.space, poll.address, poll.bytes);
  for (auto each = std::next(places.begin()); each != places.end(); ++each)
    f.there.push_back(session_.places.party(each->second.first.who, words(each->second.first)));
  f.there.insert(f.there.end(), others.begin(), others.end());
  f.remedy =
      stuck.not_begun != 0
          ? "let no block wait for one that may begin later: launch at most as many blocks as "
            "fit the device at once (a cooperative launch checks it), or take work in the order "
            "in which blocks begin (an atomic counter) and wait for earlier work only"
          : "let whoever is to change it do so before it waits or ends itself: it has ended, or "
            "waits, or is one of those that look";
  f.rule =
      "CUDA C++ Programming Guide, Thread Hierarchy: blocks run in any order, in parallel or in "
      "series; only co-resident blocks may wait for each other";
  session_.findings.add({f.kind, session_.places.of(poll.who), no_place, 1u << 18},
                        [&] { return std::move(f); });
  return true;
}

}  // namespace inflight::check
