// Recognises arrivals at a grid's barrier by the address of its word.
#include "gpu/check/detect/waiting/grid_barriers.hpp"

namespace inflight::check {
namespace {

std::uint64_t blocks_in(const Extents& e) { return std::uint64_t{e.x} * e.y * e.z; }

}  // namespace

// The blocks of one cluster are resident together in every launch.
void GridBarriers::accessed(const Kernel& kernel, const Access& access) {
  if (kernel.grid_barrier == 0 || kernel.cooperative || access.space != Space::global) return;
  if (blocks_in(kernel.grid) == blocks_in(kernel.cluster)) return;
  bool arrives = false;
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    arrives |= (access.who.mask >> lane & 1) != 0 && access.addresses[lane] == kernel.grid_barrier;
  if (!arrives) return;
  const std::lock_guard lock(mutex_);
  first_.try_emplace(kernel.launch, access.who);
}

std::optional<Who> GridBarriers::take(std::uint64_t launch) {
  const std::lock_guard lock(mutex_);
  const auto found = first_.extract(launch);
  if (!found) return std::nullopt;
  return found.mapped();
}

}  // namespace inflight::check
