// Detects waits for more cp.async groups than are needed before the next wait (--advice).
//
// For each wait of a warp, it records which of the groups completed by the wait the block reads
// before the warp waits again. If the newest of them are not read, in any execution of the wait,
// the wait could allow that many more groups in flight.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "gpu/check/detect/blocks.hpp"
#include "gpu/check/detect/detector.hpp"

namespace inflight::check {
namespace {

struct Range {
  std::uint64_t begin = 0, end = 0;  // in shared memory
};

struct Group {
  std::vector<Range> written;
  std::uint32_t newer = 0;  // groups committed since
  bool known = false;       // a wait has covered it
  bool fresh = false;       // the last wait was the first to cover it
  bool read = false;        // read since that wait
};

struct WarpGroups {
  std::vector<Range> open;   // written by copies not yet committed
  std::deque<Group> groups;  // oldest first
  Who wait;                  // the last wait; no mask: none
  std::uint32_t allowed = 0;
};

struct BlockGroups {
  std::map<std::uint32_t, WarpGroups> warps;
};

class StrictWaits : public PerBlock<BlockGroups> {
 public:
  explicit StrictWaits(const Session& session) : session_(session) {}
  Topic topics() const override {
    return Topic::accesses | Topic::addresses | Topic::copies | Topic::blocks | Topic::each_read;
  }

  void copy_issued(const CopyIssued& copy) override {
    BlockGroups& block = of(copy.who);
    const bool group = copy.completion == Completion::thread_group;
    copy.for_each_run([&](const CopyRun& run) {
      if (group) add(block.warps[copy.who.warp].open, run.destination, run.bytes);
      if (copy.from == Space::shared) read(block, run.source, run.source_bytes);
    });
  }
  void copy_committed(const CopyCommitted& event) override {
    if (event.completion != Completion::thread_group) return;
    WarpGroups& warp = of(event.who).warps[event.who.warp];
    for (Group& group : warp.groups) ++group.newer;
    Group group;
    group.written = std::exchange(warp.open, {});
    warp.groups.push_back(std::move(group));
  }
  void copy_waited(const CopyWaited& event) override;
  void accessed(const Access& access) override {
    if (access.space != Space::shared || access.kind == Access::Kind::store || !access.addresses)
      return;
    BlockGroups& block = of(access.who);
    if (block.warps.empty()) return;
    for (Mask m = access.who.mask; m != 0; m &= m - 1)
      read(block, access.addresses[std::countr_zero(m)], access.bytes);
  }

 private:
  struct Wait {
    Who who;
    std::uint32_t allowed = 0, spare = 0;  // spare: fewest groups not needed in any execution
  };

  void launch_ended(std::uint64_t launch) override {
    const std::lock_guard lock(mutex_);
    const auto begin = waits_.lower_bound({launch, 0}), end = waits_.lower_bound({launch + 1, 0});
    for (auto each = begin; each != end; ++each)
      if (each->second.spare != 0) report(each->second);
    waits_.erase(begin, end);
  }
  static void add(std::vector<Range>& ranges, std::uint64_t at, std::uint64_t bytes) {
    if (!ranges.empty() && ranges.back().end == at)
      ranges.back().end = at + bytes;
    else
      ranges.push_back({at, at + bytes});
  }
  static void read(BlockGroups& block, std::uint64_t at, std::uint64_t bytes) {
    for (auto& [number, warp] : block.warps)
      for (Group& group : warp.groups)
        if (group.fresh && !group.read)
          group.read = std::any_of(group.written.begin(), group.written.end(), [&](const Range& r) {
            return at < r.end && r.begin < at + bytes;
          });
  }
  void report(const Wait& wait);

  Session session_;
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, Wait> waits_;
};

void StrictWaits::copy_waited(const CopyWaited& event) {
  if (event.completion != Completion::thread_group) return;
  WarpGroups& warp = of(event.who).warps[event.who.warp];
  const std::uint32_t allowed = event.allowed == CopyWaited::all_copies ? 0 : event.allowed;
  if (warp.wait.mask != 0) {
    std::uint32_t spare = 0;
    for (auto group = warp.groups.rbegin(); group != warp.groups.rend(); ++group) {
      if (!group->fresh) continue;
      // Stops at a group that was read, is empty, or that this wait would not cover.
      if (group->read || group->written.empty() || group->newer < allowed) break;
      ++spare;
    }
    const std::lock_guard lock(mutex_);
    const auto [at, first] = waits_.try_emplace({warp.wait.launch, warp.wait.instruction},
                                                Wait{warp.wait, warp.allowed, spare});
    if (!first) at->second.spare = std::min(at->second.spare, spare);
  }
  for (Group& group : warp.groups) {
    group.fresh = !group.known && group.newer >= allowed;
    group.known |= group.fresh;
  }
  while (!warp.groups.empty() && warp.groups.front().known && !warp.groups.front().fresh)
    warp.groups.pop_front();
  warp.wait = event.who;
  warp.allowed = allowed;
}

void StrictWaits::report(const Wait& wait) {
  session_.findings.add({FindingKind::strict_wait, session_.places.of(wait.who)}, [&] {
    Finding finding;
    finding.kind = FindingKind::strict_wait;
    finding.sentence = fmt::format(
        "a wait allows {} pending group{} of copies, and could allow {}: no bytes of the newest {} "
        "that it waits for are read before the next wait",
        wait.allowed, wait.allowed == 1 ? "" : "s", wait.allowed + wait.spare, wait.spare);
    finding.here = session_.places.party(wait.who, fmt::format("waits, allowing {}", wait.allowed));
    finding.remedy = fmt::format("cp.async.wait_group {} instead of {}", wait.allowed + wait.spare,
                                 wait.allowed);
    finding.rule = "PTX ISA, cp.async.wait_group: the N newest groups may be in flight";
    return finding;
  });
}

}  // namespace

std::unique_ptr<Listener> make_strict_waits(const Session& session, const CheckOptions& options) {
  if (!options.advice) return nullptr;
  return std::make_unique<StrictWaits>(session);
}

}  // namespace inflight::check
