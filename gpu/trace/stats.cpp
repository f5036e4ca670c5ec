// Adds up the counts of launches.
#include "gpu/trace/stats.hpp"

#include <algorithm>

namespace inflight::trace {
namespace {

template <class Enum>
std::size_t index(Enum value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

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

check::Topic Stats::topics() const { return check::Topic::kernels | check::Topic::counts; }

void Stats::kernel_begin(const check::KernelBegin& event) {
  const check::Kernel& k = *event.kernel;
  const std::lock_guard lock(mutex_);
  Kernel& kernel = kernels_[std::string(k.name)];
  kernel.name = k.name;
  if (kernel.families.size() < k.families.size())
    kernel.families.assign(k.families.begin(), k.families.end());
  Running& running = running_[k.launch];
  running.kernel = &kernel;
  if (counts_fidelity_) running.numbers = kernel.fidelity.numbers_of(k);
}

void Stats::kernel_end(const check::KernelEnd& event) {
  const std::lock_guard lock(mutex_);
  ++tally(*event.kernel).launches;
  if (event.host_code) {
    Kernel& kernel = *running_.at(event.kernel->launch).kernel;
    ++kernel.engines[std::string(event.host_code->why_not)];
    if (event.host_code->why_not.empty()) kernel.host_code = *event.host_code;
  }
  running_.erase(event.kernel->launch);
}

Tally& Stats::tally(const check::Kernel& kernel) {
  return running_.at(kernel.launch).kernel->tally;
}

void Stats::count_fidelity(Running& running, const check::RunCount& event) const {
  for (const std::uint32_t instruction : event.instructions) {
    const auto found = running.numbers.find(instruction);
    FidelityTally::Executed& executed =
        found == running.numbers.end() ? running.kernel->fidelity.exact : *found->second;
    executed.warps += event.warps;
    executed.threads += event.threads;
  }
}

void Stats::run_counted(const check::RunCount& event) {
  const std::lock_guard lock(mutex_);
  std::vector<Tally::Instructions>& counts = tally(*event.kernel).families;
  tally(*event.kernel).in_host_code += event.in_host_code * event.families.size();
  for (const std::uint32_t family : event.families) {
    if (family >= counts.size()) counts.resize(family + 1);
    counts[family].warps += event.warps;
    counts[family].threads += event.threads;
  }
  if (counts_fidelity_) count_fidelity(running_.at(event.kernel->launch), event);
}

void Stats::access_counted(const check::AccessCount& event) {
  const std::lock_guard lock(mutex_);
  Tally::Memory& memory = tally(*event.kernel).memory[index(event.space)];
  const std::uint64_t bytes = event.threads * event.bytes;
  memory.accesses += event.warps;
  if (event.kind == check::Access::Kind::load)
    memory.loaded += bytes;
  else if (event.kind == check::Access::Kind::store)
    memory.stored += bytes;
  else
    memory.atomic += bytes;
}

void Stats::blocks_counted(const check::BlockCount& event) {
  const std::lock_guard lock(mutex_);
  Tally& t = tally(*event.kernel);
  t.blocks += event.blocks;
  for (std::size_t i = 0; i < t.copies.size(); ++i) {
    t.copies[i].copies += event.copies[i];
    t.copies[i].bytes += event.copied_bytes[i];
  }
  for (std::size_t i = 0; i < t.barriers.size(); ++i) t.barriers[i] += event.barriers[i];
  t.mbarrier_arrivals += event.mbarrier_arrivals;
  t.mbarrier_phases += event.mbarrier_phases;
  t.mbarrier_waits += event.mbarrier_tests;
  t.divergent_branches += event.divergent_branches;
  t.host_code_entries += event.host_code_entries;
}

std::vector<Stats::Kernel> Stats::kernels() const {
  std::vector<Kernel> result;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, kernel] : kernels_)
      if (kernel.tally.launches != 0) result.push_back(kernel);
  }
  std::stable_sort(result.begin(), result.end(), [](const Kernel& a, const Kernel& b) {
    return a.tally.instructions().threads > b.tally.instructions().threads;
  });
  return result;
}

}  // namespace inflight::trace
