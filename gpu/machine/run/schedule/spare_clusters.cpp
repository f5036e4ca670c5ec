// The clusters that a host thread keeps between launches.
#include "gpu/machine/run/schedule/spare_clusters.hpp"

#include <cstdint>
#include <utility>

#include "gpu/host/of_this_thread.hpp"

namespace inflight::machine {
namespace {

constexpr std::size_t most_clusters = 4;           // per host thread
constexpr std::uint64_t most_bytes = 1024 * 1024;  // of shared memory and registers, per cluster

// What two launches must share so that one can use the other's clusters.
struct Fit {
  std::uint64_t code = 0;  // Code::id
  Dim3 block;
  bool operator==(const Fit&) const = default;
};

struct Kept {
  Fit fit;
  std::vector<std::unique_ptr<Cluster>> clusters;
};
Kept& kept_here() { return host::of_this_thread<Kept>(); }

Fit fit_of(const Grid& grid) { return {grid.entry->id, grid.launch->block}; }

std::uint64_t bytes_of(const Grid& grid) {
  const Launch& launch = *grid.launch;
  const std::uint64_t warps = (launch.block.count() + lanes - 1) / lanes;
  return grid.shared_end + warps * (grid.entry->frame_bytes + grid.entry->local_bytes * lanes);
}

// Keeps only clusters of one block whose threads make no calls, because their size is known. A
// listener keeps state in its clusters, so those are not kept.
bool are_kept(const Grid& grid) {
  return !grid.observation && grid.launch->cluster.count() == 1 && grid.entry->calls.empty() &&
         bytes_of(grid) <= most_bytes;
}

}  // namespace

SpareClusters::SpareClusters(Grid& grid) : grid_(grid) {
  if (!are_kept(grid)) return;
  Kept& kept = kept_here();
  if (kept.fit == fit_of(grid)) {
    clusters_ = std::move(kept.clusters);
    for (auto& each : clusters_) each->move_to(grid);
  }
  kept.clusters.clear();
}

SpareClusters::~SpareClusters() {
  if (!are_kept(grid_)) return;
  std::erase_if(clusters_, [](const auto& each) { return each->in_flight != nullptr; });
  if (clusters_.size() > most_clusters) clusters_.resize(most_clusters);
  kept_here() = {fit_of(grid_), std::move(clusters_)};
}

std::unique_ptr<Cluster> SpareClusters::take() {
  if (clusters_.empty()) return std::make_unique<Cluster>(grid_);
  auto cluster = std::move(clusters_.back());
  clusters_.pop_back();
  return cluster;
}

}  // namespace inflight::machine
