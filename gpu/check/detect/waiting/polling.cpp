// Collects the polls of all clusters of a launch and matches writes to the values that they read.
#include "gpu/check/detect/waiting/polling.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace inflight::check {

bool sees_nothing_new(const WarpPolls* polls) {
  return polls && polls->repeats() >= WarpPolls::many;
}

bool is_polling(const Stuck::Threads& threads, const WarpPolls* polls) {
  return threads.polls || (threads.wait.what == Wait::For::sleep && sees_nothing_new(polls));
}

const WarpPolls* polls_of(const Stuck::Threads& threads, const ClusterState* state) {
  if (!state) return nullptr;
  const auto found = state->polls.find(state->warp(threads.wait.who));
  return found == state->polls.end() ? nullptr : &found->second;
}

std::vector<std::uint64_t> Hang::ended_blocks() const {
  std::set<std::uint64_t> live;
  for (const Stuck::Threads& each : threads) live.insert(each.wait.who.block);
  std::vector<std::uint64_t> ended;
  for (std::uint64_t block = 0; not_begun == 0 && block < blocks; ++block)
    if (!live.contains(block)) ended.push_back(block);
  return ended;
}

Polling::Polling(const Hang& hang, const StateOf& state_of) {
  const ClusterState* const first = state_of(hang.first);
  using Key = std::tuple<std::uint32_t, std::uint64_t, Spot>;
  std::map<Key, PollSite> found;
  std::map<Key, std::uint64_t> since;  // WarpPolls::since() of the last at a site
  std::map<Spot, Write> writes;        // the last write of each location
  std::set<const ClusterState*> states;
  const auto offer = [&](const Write& write) {
    Write& last = writes.try_emplace(write.at, write).first->second;
    if (last.number < write.number) last = write;
  };
  for (const Write& each : hang.ended) offer(each);
  for (const Stuck::Threads& each : hang.threads) {
    const Who& who = each.wait.who;
    const ClusterState* const state = state_of(who.block);
    if (state && states.insert(state).second)
      for (const auto& [warp, of] : state->writes) of.each(offer);
    const WarpPolls* const polls = polls_of(each, state);
    if (each.runs && hang.why == Stuck::Why::out_of_time) makes_progress = true;
    if (!check::is_polling(each, polls)) {
      if (!waits) waits = who;
      continue;
    }
    if (!sees_nothing_new(polls)) {
      makes_progress |= state == first || hang.why == Stuck::Why::out_of_time;
      continue;
    }
    if (hang.why == Stuck::Why::out_of_time && polls->sees_changes()) {
      sees_changes = true;
      continue;
    }
    Poll poll = *polls->last();
    poll.who.mask = who.mask;
    const auto [at, fresh] =
        found.try_emplace({poll.who.instruction, who.block, poll.at}, PollSite{poll, 0, {}, {}});
    at->second.threads += static_cast<std::uint32_t>(std::popcount(who.mask));
    std::uint64_t& last = since.try_emplace(at->first, polls->since()).first->second;
    last = std::max(last, polls->since());
  }
  for (auto& [key, site] : found) {
    const Poll& poll = site.poll;
    const auto last = writes.find(poll.at);
    if (!poll.mbarrier && last != writes.end()) {
      const Write& write = last->second;
      const bool by_another = write.who.block != poll.who.block || write.who.warp != poll.who.warp;
      if (hang.why == Stuck::Why::out_of_time && write.number >= since.at(key))
        site.changed = write;
      if (by_another && write.value == poll.value) site.written = write;
    }
    sites.push_back(std::move(site));
  }
}

const PollSite* Polling::of_writer(const Write& write) const {
  const auto found = std::find_if(sites.begin(), sites.end(), [&](const PollSite& each) {
    return each.poll.who.block == write.who.block && each.poll.who.warp == write.who.warp;
  });
  return found == sites.end() ? nullptr : &*found;
}

std::vector<const PollSite*> Polling::circle() const {
  for (const PollSite& start : sites) {
    std::vector<const PollSite*> way{&start};
    while (way.size() <= sites.size() && way.back()->written) {
      const PollSite* const next = of_writer(*way.back()->written);
      if (next == &start) return way;
      if (!next) break;
      way.push_back(next);
    }
  }
  return {};
}

}  // namespace inflight::check
