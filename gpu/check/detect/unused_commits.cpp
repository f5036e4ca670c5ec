// Advises against tcgen05.commit on an mbarrier for whose phase no thread ever waits: nobody then
// knows that the work is complete.
#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "gpu/check/detect/detector.hpp"

namespace inflight::check {
namespace {

class UnusedCommits : public Listener {
 public:
  explicit UnusedCommits(const Session& session) : session_(session) {}
  Topic topics() const override { return Topic::mbarriers | Topic::blocks; }

  void block_begin(const BlockBegin& event) override {
    const std::lock_guard lock(mutex_);
    Launch& launch = launches_[event.kernel->launch];
    launch.blocks[event.block] = {event.cluster, event.rank};
  }

  void mbarrier(const MbarrierOp& op) override {
    using Op = MbarrierOp::Op;
    const bool waits = op.op == Op::test_wait || op.op == Op::try_wait;
    const bool commits = op.op == Op::async_arrive_issued && op.of_tensor_work;
    if (!waits && !commits && op.op != Op::init) return;
    const std::lock_guard lock(mutex_);
    Launch& launch = launches_[op.who.launch];
    const auto block = launch.blocks.find(op.who.block);
    if (block == launch.blocks.end()) return;
    Barrier& barrier = launch.barriers[{block->second.cluster, op.rank, op.address}];
    if (op.op == Op::init) {
      barrier = {};
      return;
    }
    if (waits) {
      for (const PlaceId place : barrier.commits) launch.commits[place].used = true;
      barrier.commits.clear();
      barrier.waited = true;
      return;
    }
    const PlaceId place = session_.places.of(op.who);
    Commit& commit = launch.commits[place];
    commit.who = op.who;
    commit.used |= barrier.waited;
    if (!commit.used && std::ranges::find(barrier.commits, place) == barrier.commits.end())
      barrier.commits.push_back(place);
  }

  void kernel_end(const KernelEnd& event) override {
    Launch ended;
    {
      const std::lock_guard lock(mutex_);
      const auto found = launches_.find(event.kernel->launch);
      if (found == launches_.end()) return;
      ended = std::move(found->second);
      launches_.erase(found);
    }
    if (event.faulted) return;
    for (const auto& [place, commit] : ended.commits)
      if (!commit.used)
        session_.findings.add({FindingKind::unused_commit, place}, [&] { return advice(commit); });
  }

 private:
  struct Commit {
    Who who;
    bool used = false;
  };
  struct Barrier {
    bool waited = false;           // since its initialisation
    std::vector<PlaceId> commits;  // before any wait
  };
  struct Place {
    std::uint64_t cluster = 0;
    std::uint16_t rank = 0;
  };
  struct Launch {
    std::map<std::uint64_t, Place> blocks;
    // By cluster, rank and shared offset.
    std::map<std::tuple<std::uint64_t, std::uint16_t, std::uint32_t>, Barrier> barriers;
    std::map<PlaceId, Commit> commits;
  };

  Finding advice(const Commit& commit) {
    Finding f;
    f.kind = FindingKind::unused_commit;
    f.sentence = "no thread waits for the mbarrier on which this tcgen05.commit arrives";
    f.here = session_.places.party(commit.who, "commits its work for the tensor cores");
    f.remedy =
        "mbarrier.try_wait for the phase, in a thread that uses the result or the shared memory, "
        "or "
        "no commit here";
    f.rule = "PTX ISA, tcgen05.commit";
    return f;
  }

  Session session_;
  std::mutex mutex_;
  std::map<std::uint64_t, Launch> launches_;
};

}  // namespace

std::unique_ptr<Listener> make_unused_commits(const Session& session, const CheckOptions& options) {
  return options.advice ? std::make_unique<UnusedCommits>(session) : nullptr;
}

}  // namespace inflight::check
