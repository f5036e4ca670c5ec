// Numbers the blocks and warps of a cluster.
#include "gpu/check/detect/waiting/cluster_state.hpp"

namespace inflight::check {
namespace {

std::uint32_t count(const Extents& e) { return e.x * e.y * e.z; }

}  // namespace

ClusterPlace cluster_place(const Kernel& kernel, std::uint64_t block) {
  const Extents &grid = kernel.grid, &cluster = kernel.cluster;
  if (count(cluster) == 1) return {block, 0};
  const std::uint64_t x = block % grid.x, y = block / grid.x % grid.y, z = block / grid.x / grid.y;
  const std::uint64_t in_x = x % cluster.x, in_y = y % cluster.y, in_z = z % cluster.z;
  return {((z - in_z) * grid.y + y - in_y) * grid.x + x - in_x,
          static_cast<std::uint32_t>(in_x + cluster.x * (in_y + cluster.y * in_z))};
}

ClusterState::ClusterState(const Kernel& k)
    : kernel(&k),
      block_threads(count(k.block)),
      block_warps((block_threads + lanes - 1) / lanes),
      size(count(k.cluster)),
      ordered(size > 1),
      order(block_warps * size),
      barriers(size),
      learnt(std::size_t{block_warps} * size) {}

std::uint32_t ClusterState::warp_in_cluster(const Who& who) const {
  return cluster_place(*kernel, who.block).rank * block_warps + who.warp;
}

Spot ClusterState::spot(const Access& access, int lane) const {
  if (access.space != Space::shared) return {access.space, 0, 0, access.addresses[lane]};
  const ClusterPlace own = cluster_place(*kernel, access.who.block);
  const auto rank = access.ranks ? access.ranks[lane] : static_cast<std::uint16_t>(own.rank);
  return {Space::shared, own.first, rank, access.addresses[lane]};
}

Mask ClusterState::lanes_of(const Who& who) const {
  const std::uint32_t left = block_threads - who.warp * lanes;
  return left >= lanes ? ~Mask{0} : (Mask{1} << left) - 1;
}

const MbarrierHistory* ClusterState::find(std::uint32_t rank, std::uint32_t address) const {
  const auto found = mbarriers.find({rank, address});
  return found == mbarriers.end() ? nullptr : &found->second;
}

}  // namespace inflight::check
