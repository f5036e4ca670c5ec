// Decides whether a launch may run. gpu/cuda maps the outcomes to error codes.
#pragma once
#include <cstdint>
#include <string_view>

#include "gpu/machine/config/launch.hpp"
#include "gpu/machine/config/limits.hpp"
#include "gpu/machine/link/program.hpp"
#include "gpu/machine/report/outcome.hpp"

namespace inflight::machine {

// Checks all but parameters: shapes of grid and blocks, shared memory, clusters, and the room on
// multiprocessors. The outcome is ok or says what is wrong.
[[gnu::visibility("default")]] Outcome check(const Launch&, const Limits&);

// The outcome of a refused launch.
Outcome refuse(FaultKind kind, const Kernel& kernel, std::string_view why);

// The start of a block's dynamic shared memory and the end of its shared memory.
struct SharedExtent {
  std::uint64_t dynamic, end;
};
SharedExtent shared_extent(const Launch&);
// The end of the reserved bytes that the kernel may use (reserved_shared.hpp).
std::uint32_t reserved_end(const Launch&);

}  // namespace inflight::machine
