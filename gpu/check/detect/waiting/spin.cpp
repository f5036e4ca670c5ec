// Threads that poll for ever what no thread changes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "gpu/check/detect/waiting/polling.hpp"
#include "gpu/check/detect/waiting/words.hpp"

namespace inflight::check {
namespace {

constexpr std::uint32_t idle_limit_ms = 5000;  // for global memory, which others might still change
constexpr std::size_t most_listed = 6;

std::string words(const PollSite& site) {
  const Poll& poll = site.poll;
  if (poll.mbarrier) return "repeatedly tests an mbarrier";
  return fmt::format("repeatedly reads {} at 0x{:x} of {} memory", poll.value, poll.at.address,
                     poll.at.space == Space::shared ? "shared" : "global");
}

// "blocks 0, 1 and 3 of 4 have ended"; empty: none has.
std::string those_ended(const Hang& hang) {
  constexpr std::size_t most_named = 4;
  const std::vector<std::uint64_t> ended = hang.ended_blocks();
  if (ended.empty()) return {};
  if (ended.size() > most_named)
    return fmt::format("{} of {} blocks have ended", ended.size(), hang.blocks);
  std::string names;
  for (std::size_t i = 0; i < ended.size(); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : i + 1 == ended.size() ? " and " : ", ", ended[i]);
  return fmt::format("block{} {} of {} {} ended", ended.size() == 1 ? "" : "s", names, hang.blocks,
                     ended.size() == 1 ? "has" : "have");
}

// grid_group::sync() polls a word of global memory in a header of the toolkit.
bool is_grid_barrier(const CodePlace& place) {
  return place.file.find("cooperative_groups/details/sync.h") != std::string::npos;
}

std::string sentence(const PollSite& site, const std::vector<const PollSite*>& circle) {
  if (circle.empty()) {
    const bool one = site.threads == 1;
    return fmt::format("{} thread{} of block {} poll{} a value that {}", site.threads,
                       one ? "" : "s", site.poll.who.block, one ? "s" : "",
                       site.changed ? one ? "keeps changing, but each time back to what it reads"
                                          : "keeps changing, but each time back to what they read"
                                    : "no thread changes any more");
  }
  std::set<std::uint64_t> blocks;
  for (const PollSite* each : circle) blocks.insert(each->poll.who.block);
  const std::string who = blocks.size() == 1 ? fmt::format("warps of block {}", *blocks.begin())
                          : blocks.size() == 2
                              ? fmt::format("blocks {} and {}", *blocks.begin(), *blocks.rbegin())
                              : fmt::format("{} blocks", blocks.size());
  return fmt::format(
      "{} wait for each other: each polls a value that {} wrote and would change only after its "
      "own wait",
      who, circle.size() == 2 ? "the other" : "the next");
}

}  // namespace

bool WaitingWords::is_livelocked(const Stuck& stuck, const ClusterState& state,
                                 const DeviceMemory& memory, std::uint32_t alone_ms) const {
  bool polling = false;
  for (const Stuck::Threads& each : stuck.threads) {
    const WarpPolls* const polls = polls_of(each, &state);
    if (!is_polling(each, polls)) {
      if (each.wait.what == Wait::For::sleep) return false;
      continue;
    }
    polling = true;
    if (!sees_nothing_new(polls)) return false;
    const bool unchanged = polls->all_of([&](const Poll& poll) {
      if (poll.mbarrier || poll.at.space == Space::shared) return true;
      return alone_ms >= idle_limit_ms && poll.at.space == Space::global &&
             memory.holds(poll.at.address);
    });
    if (!unchanged) return false;
  }
  return polling;
}

bool WaitingWords::add_polling(const Hang& hang, const Polling::StateOf& state_of) {
  const Polling polling(hang, state_of);
  if (polling.sites.empty() || polling.makes_progress) return false;
  if (const auto left = find_left_behind(hang.threads, state_of)) return add(*left);
  const auto changed = std::ranges::find_if(
      polling.sites, [](const PollSite& each) { return each.changed.has_value(); });
  const bool changes = changed != polling.sites.end();
  if (!changes && polling.sees_changes) return false;
  const auto circle = changes ? std::vector<const PollSite*>{} : polling.circle();
  Places& places = session_.places;
  const PollSite& site = changes          ? *changed
                         : circle.empty() ? polling.sites.front()
                                          : *circle.front();
  const std::string ended = those_ended(hang);
  const bool grid = circle.empty() && !changes && !site.poll.mbarrier &&
                    is_grid_barrier(places.at(places.of(site.poll.who)));
  const bool set_back = circle.empty() && !changes && !grid && site.written;
  Finding f;
  f.kind = FindingKind::deadlock;
  f.sentence = grid ? fmt::format(
                          "block {} waits at a barrier of the grid (grid.sync()) at which "
                          "not every block arrives",
                          site.poll.who.block)
                    : sentence(site, circle);
  if (!ended.empty()) f.sentence += ": " + ended;
  if (hang.not_begun != 0)
    f.sentence += fmt::format(
        ": {} blocks of the launch have not begun, because the waiting blocks leave no room for "
        "them",
        hang.not_begun);
  f.here = places.party(site.poll.who, words(site));
  f.bytes = places.bytes(site.poll.who, site.poll.at.space, site.poll.at.address, site.poll.bytes);
  std::set<std::uint32_t> listed;  // instructions, to list each only once
  const auto list = [&](const PollSite& each) {
    if (&each != &site) f.there.push_back(places.party(each.poll.who, words(each)));
    listed.insert(each.poll.who.instruction);
    if (each.changed)
      f.there.push_back(places.party(each.changed->who,
                                     fmt::format("wrote {} there meanwhile", each.changed->value)));
    else if (each.written)
      f.there.push_back(places.party(
          each.written->who, fmt::format("wrote the {} that is read there", each.written->value)));
  };
  for (std::size_t i = 0; i < std::min(circle.size(), most_listed); ++i) list(*circle[i]);
  if (circle.empty()) list(site);
  for (const PollSite& each : polling.sites)
    if (listed.size() < most_listed && !listed.contains(each.poll.who.instruction)) list(each);
  if (polling.waits && !grid)
    f.there.push_back(places.party(*polling.waits, "waits, as do others"));
  const Kernel* const kernel = places.kernel(site.poll.who.launch);
  f.remedy =
      hang.not_begun != 0 && grid && kernel && !kernel->cooperative
          ? "launch the kernel by cudaLaunchCooperativeKernel(), which refuses a grid that does "
            "not "
            "fit on the device at once, instead of <<<>>>, and at most as many blocks as fit "
            "(cudaOccupancyMaxActiveBlocksPerMultiprocessor)"
      : hang.not_begun != 0
          ? "do not let a block wait for one that may begin later: launch at most as many blocks "
            "as fit on the device at once (a cooperative launch checks it), or take work in the "
            "order in which blocks begin (an atomic counter) and wait for earlier work only"
      : changes ? "do not change the value back before the thread that waits for it has seen it: "
                  "no order "
                  "of threads is promised in which it does"
      : grid
          ? "let every block call grid.sync() the same number of times: not in a branch or a loop "
            "whose condition differs between blocks, and not after a return of some"
      : set_back
          ? "if the write named above comes too early, make it only when every thread that waits "
            "has seen the value before it: count those that have, and let the last one write; or "
            "use another location for each round. Otherwise let the thread that changes the value "
            "do so before it waits or exits"
      : circle.empty()
          ? "let the thread that changes the value do so before it waits or exits: it has exited, "
            "waits, or polls too"
          : "take locks in the same order everywhere, or release the held locks when the next one "
            "is not free; let each thread set its own flag before it waits for another's";
  if (circle.empty() && !changes)
    f.rule = grid ? "CUDA C++ Programming Guide, Grid Synchronization: every thread of the grid "
                    "must reach the barrier"
                  : "CUDA C++ Programming Guide, Thread Hierarchy: blocks run in any order, in "
                    "parallel or in "
                    "series; only co-resident blocks may wait for each other";
  session_.findings.add({f.kind, places.of(site.poll.who), no_place, key_of(Rules::polling)},
                        [&] { return std::move(f); });
  return true;
}

void WaitingWords::add_grid_barrier(const Who& who) {
  Places& places = session_.places;
  constexpr std::uint64_t more = key_of(Rules::barrier, grid_barrier_rule);
  session_.findings.add({FindingKind::barrier_misuse, places.of(who), no_place, more}, [&] {
    Finding f;
    f.kind = FindingKind::barrier_misuse;
    f.sentence =
        "a kernel synchronises its grid, but its launch was not cooperative: nothing promises that "
        "its blocks run at the same time";
    f.here = places.party(who, "waits for all blocks of the grid (grid.sync())");
    f.remedy =
        "launch it by cudaLaunchCooperativeKernel(), or by cudaLaunchKernelEx() with "
        "cudaLaunchAttributeCooperative, instead of <<<>>>: such a launch fails if the grid does "
        "not fit on the device at once";
    f.rule =
        "CUDA C++ Programming Guide, Grid Synchronization: the kernel must be launched by the "
        "cooperative launch API";
    return f;
  });
}

}  // namespace inflight::check
