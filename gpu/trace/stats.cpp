// Counting: one shard a host thread, merged when a launch ends.
#include "gpu/trace/stats.hpp"

#include <algorithm>
#include <bit>
#include <thread>
#include <unordered_map>

namespace inflight::trace {
namespace {

std::uint64_t threads_of(const check::Who& who) {
  return static_cast<std::uint64_t>(std::popcount(who.mask));
}

template <class Enum>
std::size_t index(Enum value) {
  return static_cast<std::size_t>(value);
}

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> ids{0};
  return ++ids;
}

// The tally that this host thread used last. A launch's number never comes again, so what is found
// here lives: tallies die when their launch ends, instances have numbers of their own.
struct Last {
  std::uint64_t stats = 0, launch = 0;
  Tally* tally = nullptr;
};
thread_local Last last;

}  // namespace

void Tally::add(const Tally& o) {
  launches += o.launches;
  blocks += o.blocks;
  if (families.size() < o.families.size()) families.resize(o.families.size());
  for (std::size_t i = 0; i < o.families.size(); ++i) {
    families[i].warps += o.families[i].warps;
    families[i].threads += o.families[i].threads;
  }
  for (std::size_t i = 0; i < memory.size(); ++i) {
    memory[i].accesses += o.memory[i].accesses;
    memory[i].loaded += o.memory[i].loaded;
    memory[i].stored += o.memory[i].stored;
    memory[i].atomic += o.memory[i].atomic;
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    copies[i].copies += o.copies[i].copies;
    copies[i].bytes += o.copies[i].bytes;
  }
  for (std::size_t i = 0; i < barriers.size(); ++i) barriers[i] += o.barriers[i];
  mbarrier_arrivals += o.mbarrier_arrivals;
  mbarrier_phases += o.mbarrier_phases;
  mbarrier_waits += o.mbarrier_waits;
  collectives += o.collectives;
  divergent_branches += o.divergent_branches;
}

Tally::Instructions Tally::instructions() const {
  Instructions sum;
  for (const Instructions& f : families) {
    sum.warps += f.warps;
    sum.threads += f.threads;
  }
  return sum;
}

double Tally::active_lanes() const {
  const Instructions sum = instructions();
  return sum.warps == 0 ? 0 : static_cast<double>(sum.threads) / static_cast<double>(sum.warps);
}

struct Stats::Shard {
  std::thread::id thread;
  std::mutex mutex;  // of the map: its thread adds launches, the end of a launch takes them away
  std::unordered_map<std::uint64_t, std::unique_ptr<Tally>> launches;
};

Stats::Stats() : id_(next_id()) {}
Stats::~Stats() = default;

check::Topic Stats::topics() const {
  using check::Topic;
  return Topic::kernels | Topic::instructions | Topic::branches | Topic::accesses |
         Topic::copies | Topic::barriers | Topic::mbarriers | Topic::collectives;
}

Tally& Stats::tally(std::uint64_t launch) {
  if (last.stats == id_ && last.launch == launch) [[likely]]
    return *last.tally;
  return find(launch);
}

Tally& Stats::find(std::uint64_t launch) {
  Shard& shard = own_shard();
  const std::lock_guard lock(shard.mutex);
  std::unique_ptr<Tally>& tally = shard.launches[launch];
  if (tally == nullptr) tally = std::make_unique<Tally>();
  last = {id_, launch, tally.get()};
  return *tally;
}

Stats::Shard& Stats::own_shard() {
  const std::lock_guard lock(mutex_);
  for (const auto& shard : shards_)
    if (shard->thread == std::this_thread::get_id()) return *shard;
  shards_.push_back(std::make_unique<Shard>());
  shards_.back()->thread = std::this_thread::get_id();
  return *shards_.back();
}

void Stats::kernel_begin(const check::KernelBegin& event) {
  const check::Kernel& k = *event.kernel;
  const std::lock_guard lock(mutex_);
  Kernel& kernel = ended_[std::string(k.name)];
  kernel.name = k.name;
  if (kernel.families.size() < k.families.size())
    kernel.families.assign(k.families.begin(), k.families.end());
}

void Stats::kernel_end(const check::KernelEnd& event) {
  const std::lock_guard lock(mutex_);
  Kernel& kernel = ended_[std::string(event.kernel->name)];
  ++kernel.tally.launches;
  for (const auto& shard : shards_) {
    const std::lock_guard shard_lock(shard->mutex);
    const auto found = shard->launches.find(event.kernel->launch);
    if (found == shard->launches.end()) continue;
    kernel.tally.add(*found->second);
    shard->launches.erase(found);
  }
}

void Stats::block_begin(const check::BlockBegin& event) { ++tally(event.kernel->launch).blocks; }

void Stats::executed(const check::Executed& event) { executed_run(event.who, {&event.family, 1}); }

void Stats::executed_run(const check::Who& who, std::span<const std::uint32_t> families) {
  std::vector<Tally::Instructions>& counts = tally(who.launch).families;
  const std::uint64_t threads = threads_of(who);
  for (const std::uint32_t family : families) {
    if (family >= counts.size()) [[unlikely]]
      counts.resize(family + 1);
    ++counts[family].warps;
    counts[family].threads += threads;
  }
}

void Stats::diverged(const check::Divergence& event) {
  ++tally(event.who.launch).divergent_branches;
}

void Stats::accessed(const check::Access& event) {
  Tally::Memory& memory = tally(event.who.launch).memory[index(event.space)];
  const std::uint64_t bytes = threads_of(event.who) * event.bytes;
  ++memory.accesses;
  if (event.kind == check::Access::Kind::load)
    memory.loaded += bytes;
  else if (event.kind == check::Access::Kind::store)
    memory.stored += bytes;
  else
    memory.atomic += bytes;
}

void Stats::copy_issued(const check::CopyIssued& event) {
  Tally::Copies& copies = tally(event.who.launch).copies[index(event.completion)];
  copies.copies += threads_of(event.who);
  copies.bytes += threads_of(event.who) * event.bytes;
}

void Stats::barrier(const check::Barrier& event) {
  if (event.step == check::Barrier::Step::complete)
    ++tally(event.who.launch).barriers[index(event.kind)];
}

void Stats::mbarrier(const check::MbarrierOp& event) {
  using Op = check::MbarrierOp::Op;
  Tally& t = tally(event.who.launch);
  const bool waits = event.op == Op::test_wait || event.op == Op::try_wait;
  const bool arrives =
      event.op == Op::arrive || event.op == Op::arrive_drop || event.op == Op::async_arrive;
  if (waits) t.mbarrier_waits += threads_of(event.who);
  if (arrives) t.mbarrier_arrivals += threads_of(event.who) * event.count;
  if (!waits && event.done) ++t.mbarrier_phases;
}

void Stats::collective(const check::Collective& event) { ++tally(event.who.launch).collectives; }

std::vector<Stats::Kernel> Stats::kernels() const {
  std::vector<Kernel> result;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, kernel] : ended_)
      if (kernel.tally.launches != 0) result.push_back(kernel);
  }
  std::stable_sort(result.begin(), result.end(), [](const Kernel& a, const Kernel& b) {
    return a.tally.instructions().threads > b.tally.instructions().threads;
  });
  return result;
}

}  // namespace inflight::trace
