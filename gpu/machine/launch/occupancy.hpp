// What a multiprocessor holds of a kernel: registers, blocks, clusters.
#pragma once
#include <cstdint>

#include "gpu/machine/config/launch.hpp"
#include "gpu/machine/config/limits.hpp"
#include "gpu/machine/link/program.hpp"

namespace inflight::machine {

// 32-bit registers a thread: how many live at once, rounded as the hardware gives them out. What
// ptxas would use on a GPU is not known here.
[[gnu::visibility("default")]] std::uint32_t registers(const Kernel&);

// What a kernel whose registers nothing bounds needs of the register file.
struct RegisterNeed {
  std::uint32_t live = 0;  // that live at once in PTX, a thread; 0: ptxas knew the block's size
  std::uint32_t room = 0;  // that a thread can have in blocks of this size
};
[[gnu::visibility("default")]] RegisterNeed register_need(const Kernel&, std::uint32_t threads,
                                                          const Limits&);

// How many blocks of this shape fit one multiprocessor; 0 if none does.
[[gnu::visibility("default")]] std::uint32_t resident_blocks(const Kernel&, std::uint32_t threads,
                                                             std::uint64_t dynamic_shared,
                                                             const Limits&);

// How many clusters of blocks of this shape the device holds at once.
[[gnu::visibility("default")]] std::uint64_t resident_clusters(const Kernel&, const Dim3& cluster,
                                                               std::uint32_t threads,
                                                               std::uint64_t dynamic_shared,
                                                               const Limits&);

}  // namespace inflight::machine
