// Converts numbers of launches and blocks to CUDA's indices.
#include "gpu/check/detect/races/launches.hpp"

#include <bit>
#include <iterator>

namespace inflight::check::races {
namespace {

Extents index_in(const Extents& shape, std::uint64_t linear) {
  return {static_cast<std::uint32_t>(linear % shape.x),
          static_cast<std::uint32_t>(linear / shape.x % shape.y),
          static_cast<std::uint32_t>(linear / shape.x / shape.y)};
}
std::uint64_t linear_in(const Extents& shape, const Extents& index) {
  return index.x + shape.x * (index.y + std::uint64_t{shape.y} * index.z);
}
Extents divided(const Extents& a, const Extents& b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }

}  // namespace

Launch facts_of(const Kernel& kernel) {
  Launch facts{kernel.launch, kernel.stream, kernel.device,
               kernel.grid,   kernel.block,  kernel.cluster};
  facts.nested = kernel.origin.parent != 0;
  return facts;
}

std::uint64_t Launch::number_of(std::uint64_t linear) const {
  if (cluster_blocks() == 1) return linear;
  const Extents at = index_in(grid, linear);
  const Extents rank{at.x % cluster.x, at.y % cluster.y, at.z % cluster.z};
  return linear_in(divided(grid, cluster), divided(at, cluster)) * cluster_blocks() +
         linear_in(cluster, rank);
}

std::uint64_t Launch::linear_of(std::uint64_t number) const {
  if (cluster_blocks() == 1) return number;
  const Extents of = index_in(divided(grid, cluster), number / cluster_blocks());
  const Extents rank = index_in(cluster, number % cluster_blocks());
  return linear_in(
      grid, {of.x * cluster.x + rank.x, of.y * cluster.y + rank.y, of.z * cluster.z + rank.z});
}

namespace {

bool same(const Extents& a, const Extents& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
bool same(const Launch& a, const Launch& b) {
  return a.launch == b.launch && a.stream == b.stream && a.device == b.device &&
         same(a.grid, b.grid) && same(a.block, b.block) && same(a.cluster, b.cluster) &&
         a.host == b.host && a.program == b.program && a.dependent == b.dependent &&
         a.nested == b.nested;
}

// The launch `behind` numbers behind the first of a run.
Launch launch_of_run(Launch first, std::uint32_t behind) {
  if (first.launch != 0) first.launch += behind;
  return first;
}

}  // namespace

// A number is used again past the limit of numbers.
void Launches::forget(std::uint32_t number) {
  auto run = runs_.upper_bound(number);
  if (run == runs_.begin()) return;
  --run;
  const std::uint32_t first = run->first, last = run->second.last;
  if (last < number) return;
  const Launch facts = run->second.first;
  runs_.erase(run);
  if (first < number) runs_[first] = {number - 1, facts};
  if (number < last) runs_[number + 1] = {last, launch_of_run(facts, number + 1 - first)};
}

void Launches::set(std::uint32_t number, const Launch& launch) {
  const std::lock_guard lock(mutex_);
  forget(number);
  const auto next = runs_.upper_bound(number);
  if (next != runs_.begin()) {
    auto& [first, run] = *std::prev(next);
    if (run.last + 1 == number && same(launch_of_run(run.first, number - first), launch)) {
      run.last = number;
      return;
    }
  }
  runs_.emplace_hint(next, number, Run{number, launch});
  if (runs_.size() > most_runs) runs_.erase(runs_.begin());
}

Launch Launches::of(order::Row row) const {
  const std::lock_guard lock(mutex_);
  const auto number = static_cast<std::uint32_t>(row >> order::launch_shift);
  const auto next = runs_.upper_bound(number);
  if (next == runs_.begin()) return {};
  const auto& [first, run] = *std::prev(next);
  return number <= run.last ? launch_of_run(run.first, number - first) : Launch{};
}

bool Launches::is_host(order::Row row) const { return of(row).host; }
bool Launches::is_program(order::Row row) const { return of(row).program; }

bool Launches::same_stream(order::Row a, order::Row b) const {
  const Launch x = of(a), y = of(b);
  return x.stream == y.stream && (x.host || y.host || x.device == y.device);
}

bool Launches::dependent(order::Row a, order::Row b) const {
  return same_stream(a, b) && (of(a).dependent || of(b).dependent);
}

bool Launches::nested(order::Row a, order::Row b) const { return of(a).nested || of(b).nested; }

std::optional<Threads> Launches::threads(order::Row row, order::Mask lanes) const {
  const Launch launch = of(row);
  const std::uint32_t local = order::local_row(row);
  const bool known = launch.launch != 0;
  if (!known || launch.host || local >= order::first_mbarrier_row) return std::nullopt;
  const std::uint64_t number = order::block_of(row) & 0xffffffff;
  Threads threads;
  threads.launch = launch.launch, threads.stream = launch.stream;
  threads.device = launch.device;
  threads.block_number = launch.linear_of(number);
  threads.block = index_in(launch.grid, threads.block_number);
  threads.warp = local & (order::lanes - 1);
  threads.lanes = lanes;
  threads.thread = index_in(
      launch.block, threads.warp * order::lanes + static_cast<unsigned>(std::countr_zero(lanes)));
  threads.clustered = launch.cluster_blocks() > 1;
  if (threads.clustered)
    threads.rank = static_cast<std::uint16_t>(number % launch.cluster_blocks());
  return threads;
}

}  // namespace inflight::check::races
