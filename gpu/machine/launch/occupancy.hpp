// How much of a kernel fits a multiprocessor: registers, blocks, clusters.
#pragma once
#include <cstdint>

#include "gpu/machine/config/launch.hpp"
#include "gpu/machine/config/limits.hpp"
#include "gpu/machine/link/program.hpp"

namespace inflight::machine {

// 32-bit registers per thread: the most that are live at once, rounded as the hardware allocates
// them. The number that ptxas would use on a GPU is not known here.
[[gnu::visibility("default")]] std::uint32_t registers(const Kernel&);

// The register needs of a kernel whose register count nothing limits.
struct RegisterNeed {
  std::uint32_t live = 0;  // live at once in PTX, per thread; 0: ptxas knew the block's size
  std::uint32_t room = 0;  // available per thread in blocks of this size
};
[[gnu::visibility("default")]] RegisterNeed register_need(const Kernel&, std::uint32_t threads,
                                                          const Limits&);

// How many blocks of this shape fit one multiprocessor, possibly 0.
[[gnu::visibility("default")]] std::uint32_t resident_blocks(const Kernel&, std::uint32_t threads,
                                                             std::uint64_t dynamic_shared,
                                                             const Limits&);

// How many clusters of blocks of this shape the device holds at once.
[[gnu::visibility("default")]] std::uint64_t resident_clusters(const Kernel&, const Dim3& cluster,
                                                               std::uint32_t threads,
                                                               std::uint64_t dynamic_shared,
                                                               const Limits&);

}  // namespace inflight::machine
