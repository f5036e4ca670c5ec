// May a launch run? The one place that decides; gpu/cuda makes codes of its answers.
#pragma once
#include <cstdint>
#include <string_view>

#include "gpu/machine/config/launch.hpp"
#include "gpu/machine/config/limits.hpp"
#include "gpu/machine/link/program.hpp"
#include "gpu/machine/report/outcome.hpp"

namespace inflight::machine {

// All but parameters: the shape of grid and blocks, shared memory, clusters, and what
// multiprocessors hold. The outcome is ok, or names what is wrong.
[[gnu::visibility("default")]] Outcome check(const Launch&, const Limits&);

// The outcome of a launch that is refused.
Outcome refuse(FaultKind kind, const Kernel& kernel, std::string_view why);

// Where a block's dynamic shared memory begins and its shared memory ends.
struct SharedExtent {
  std::uint64_t dynamic, end;
};
SharedExtent shared_extent(const Launch&);

}  // namespace inflight::machine
