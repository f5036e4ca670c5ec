// Computes occupancy from a kernel's needs and a device's resources.
#include "gpu/machine/launch/occupancy.hpp"

#include <algorithm>

#include "gpu/machine/decode/prepared.hpp"
#include "gpu/machine/link/reserved_shared.hpp"
#include "gpu/machine/run/warp.hpp"

namespace inflight::machine {
namespace {

constexpr std::uint32_t granule = 8;  // registers per thread: 256 per warp

std::uint32_t warps_of(std::uint32_t threads) { return (threads + lanes - 1) / lanes; }

std::uint32_t live_registers(const Kernel& kernel) {
  return prepared(*kernel.program).function({kernel.module, kernel.function}).live_words;
}

}  // namespace

RegisterNeed register_need(const Kernel& kernel, std::uint32_t threads, const Limits& limits) {
  constexpr std::uint32_t most = 255;
  RegisterNeed need;
  const std::uint32_t file = limits.registers_per_multiprocessor / lanes;
  need.room = std::min(most, file / std::max(1u, warps_of(threads)) / granule * granule);
  if (kernel.built_for_size || need.room == most) return need;
  need.live = live_registers(kernel);
  if (kernel.max_registers != 0) need.live = std::min(need.live, kernel.max_registers);
  return need;
}

std::uint32_t registers(const Kernel& kernel) {
  constexpr std::uint32_t fewest = 16, most = 255, addressing = 6;
  const std::uint32_t live = live_registers(kernel) + addressing;
  std::uint32_t limit = kernel.max_registers ? kernel.max_registers : most;
  limit = std::min(limit, 65536 / std::max(1u, kernel.max_threads));
  return std::clamp((live + granule - 1) / granule * granule, fewest, std::max(fewest, limit));
}

std::uint32_t resident_blocks(const Kernel& kernel, std::uint32_t threads,
                              std::uint64_t dynamic_shared, const Limits& limits) {
  const std::uint64_t shared = kernel.static_shared + dynamic_shared;
  // The kernel's own bound on threads (.maxntid, .reqntid) has no effect on an H100's answers.
  if (threads == 0 || threads > limits.max_threads_per_block ||
      shared > limits.shared_per_block_optin)
    return 0;
  const std::uint32_t warps = warps_of(threads);
  std::uint64_t blocks = limits.max_blocks_per_multiprocessor;
  blocks = std::min<std::uint64_t>(blocks, limits.max_threads_per_multiprocessor / (warps * lanes));
  blocks = std::min<std::uint64_t>(blocks,
                                   limits.shared_per_multiprocessor / (shared + reserved_shared));
  const std::uint64_t block_registers = std::uint64_t{registers(kernel)} * lanes * warps;
  blocks = std::min(blocks, limits.registers_per_multiprocessor / block_registers);
  return static_cast<std::uint32_t>(blocks);
}

// A cluster of more than two blocks lies within a GPC (graphics processing cluster); a pair of
// multiprocessors is always in one. Gives what an H200 returns for cudaOccupancyMaxActiveClusters.
std::uint64_t resident_clusters(const Kernel& kernel, const Dim3& cluster, std::uint32_t threads,
                                std::uint64_t dynamic_shared, const Limits& limits) {
  const std::uint64_t blocks = resident_blocks(kernel, threads, dynamic_shared, limits);
  const std::uint64_t size = std::max<std::uint64_t>(1, cluster.count());
  if (size <= 2 || limits.gpcs.empty()) return blocks * limits.multiprocessors / size;
  std::uint64_t count = 0;
  for (const std::uint32_t multiprocessors : limits.gpcs)
    if (multiprocessors >= size) count += blocks * multiprocessors / size;
  return count;
}

}  // namespace inflight::machine
