// The rules of a launch, checked one after the other.
#include "gpu/machine/launch/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "gpu/check/names.hpp"
#include "gpu/machine/launch/occupancy.hpp"
#include "gpu/machine/link/reserved_shared.hpp"

namespace inflight::machine {
namespace {

constexpr Dim3 largest_grid{0x7fffffff, 65535, 65535};
constexpr Dim3 largest_block{1024, 1024, 64};
constexpr std::uint64_t most_padding = 1024;  // bytes before dynamic shared memory

bool empty(const Dim3& d) { return d.x == 0 || d.y == 0 || d.z == 0; }
bool fits(const Dim3& d, const Dim3& most) {
  return d.x <= most.x && d.y <= most.y && d.z <= most.z;
}
std::string by(const Dim3& d) { return fmt::format("{} x {} x {}", d.x, d.y, d.z); }
Dim3 shape(const std::array<std::uint32_t, 3>& of) {
  return {of[0], std::max(1u, of[1]), std::max(1u, of[2])};
}

Outcome check_shape(const Launch& launch, const Limits& limits) {
  const Kernel& k = *launch.kernel;
  const auto invalid = [&](const std::string& why) {
    return refuse(FaultKind::invalid_launch, k, why);
  };
  if (empty(launch.grid) || empty(launch.block))
    return invalid("every grid and block dimension must be at least 1");
  if (!fits(launch.grid, largest_grid))
    return invalid(fmt::format("a grid of {} blocks; the device allows {}", by(launch.grid),
                               by(largest_grid)));
  const std::uint64_t most = limits.max_threads_per_block;
  if (!fits(launch.block, largest_block) || launch.block.count() > most)
    return invalid(fmt::format("blocks of {} threads; the device allows {}, and {} in all",
                               by(launch.block), by(largest_block), most));
  if (launch.block.count() > k.max_threads)
    return invalid(fmt::format("a block of {} threads; the kernel was built for at most {}",
                               launch.block.count(), k.max_threads));
  if (k.required_block[0] && launch.block != shape(k.required_block))
    return invalid(fmt::format("its .reqntid requires blocks of {}", by(shape(k.required_block))));
  return {};
}

Outcome check_shared(const Launch& launch, const Limits& limits) {
  const Kernel& k = *launch.kernel;
  const std::uint64_t shared = std::uint64_t{k.static_shared} + launch.dynamic_shared;
  // cudaFuncAttributeMaxDynamicSharedMemorySize limits only the dynamic part.
  const std::uint64_t allowed = std::max<std::uint64_t>(
      limits.shared_per_block,
      std::min<std::uint64_t>(std::uint64_t{k.static_shared} + launch.shared_optin,
                              limits.shared_per_block_optin));
  if (shared > allowed)
    return refuse(FaultKind::invalid_launch, k,
                  fmt::format("{} bytes of shared memory per block ({} static, {} dynamic); {} are "
                              "allowed (cudaFuncSetAttribute raises this up to {})",
                              shared, k.static_shared, launch.dynamic_shared, allowed,
                              limits.shared_per_block_optin));
  // Alignment, as for a tensor copy's box, may add padding.
  if (shared_extent(launch).end > reserved_shared + limits.shared_per_block_optin + most_padding)
    return refuse(FaultKind::invalid_launch, k,
                  fmt::format("its dynamic shared memory is aligned to {} bytes, more than the {} "
                              "that a block can have",
                              k.dynamic_alignment, limits.shared_per_block_optin));
  return {};
}

Outcome check_cluster(const Launch& launch, const Limits& limits) {
  const Dim3 &c = launch.cluster, &grid = launch.grid;
  const Kernel& k = *launch.kernel;
  const auto invalid = [&](const std::string& why) {
    return refuse(FaultKind::invalid_cluster, k, why);
  };
  if (c == Dim3{}) return {};
  if (empty(c) || grid.x % c.x || grid.y % c.y || grid.z % c.z)
    return invalid(fmt::format("clusters of {} blocks do not divide its grid", by(c)));
  if (k.required_cluster[0] && c != shape(k.required_cluster))
    return invalid(fmt::format("clusters of {} blocks; its .reqnctapercluster requires {}", by(c),
                               by(shape(k.required_cluster))));
  if (limits.max_cluster == 1) return invalid("clusters need sm_90 or later");
  if (c.count() > limits.max_cluster)
    return invalid(
        fmt::format("clusters of {} blocks; the device allows {}", c.count(), limits.max_cluster));
  if (c.count() > launch.cluster_optin)
    return invalid(
        fmt::format("clusters of {} blocks; {} are allowed (the attribute "
                    "NonPortableClusterSizeAllowed raises this up to {})",
                    c.count(), launch.cluster_optin, limits.max_cluster));
  return {};
}

Outcome check_residence(const Launch& launch, const Limits& limits) {
  const Kernel& k = *launch.kernel;
  const std::uint64_t size = launch.cluster.count(), total = launch.grid.count() / size;
  const std::uint64_t resident =
      resident_clusters(k, launch.cluster, static_cast<std::uint32_t>(launch.block.count()),
                        launch.dynamic_shared, limits);
  if (launch.cooperative && total > resident)
    return refuse(FaultKind::cooperative_too_large, k,
                  fmt::format("a cooperative grid of {} blocks; {} can be resident at once",
                              launch.grid.count(), resident * size));
  if (resident == 0)
    return refuse(FaultKind::too_many_resources, k,
                  "a block needs more registers or shared memory than a multiprocessor has");
  return {};
}

}  // namespace

Outcome refuse(FaultKind kind, const Kernel& kernel, std::string_view why) {
  return {kind, fmt::format("kernel {} cannot be launched: {}", check::readable(kernel.name), why)};
}

SharedExtent shared_extent(const Launch& launch) {
  const Kernel& k = *launch.kernel;
  const std::uint64_t a = std::max(1u, k.dynamic_alignment),
                      end = std::uint64_t{reserved_shared} + k.static_shared,
                      dynamic = (end + a - 1) / a * a;
  const std::uint64_t g = std::max(1u, launch.shared_granule),
                      bytes = (launch.dynamic_shared ? dynamic + launch.dynamic_shared : end) -
                              reserved_shared;
  return {dynamic, reserved_shared + (bytes + g - 1) / g * g};
}

std::uint32_t reserved_end(const Launch& launch) {
  if (launch.dynamic_shared && !launch.kernel->names_shared) return reserved_shared;
  return launch.kernel->uses_reserved_shared ? reserved_shared_usable : 0;
}

Outcome check(const Launch& launch, const Limits& limits) {
  using Rule = Outcome (*)(const Launch&, const Limits&);
  for (const Rule rule : {check_shape, check_shared, check_cluster, check_residence})
    if (Outcome outcome = rule(launch, limits); !outcome.ok()) return outcome;
  return {};
}

}  // namespace inflight::machine
