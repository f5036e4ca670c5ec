// The state of warps, blocks and clusters, for reports of faults, waits and deadlocks.
#pragma once
#include <string>

#include "gpu/machine/report/report.hpp"
#include "gpu/machine/run/cluster.hpp"

namespace inflight::machine {

// A fault at `op` by the lanes of `lane_mask`.
Fault fault_of(const Warp& w, const Op* op, FaultKind kind, std::uint32_t lane_mask,
               std::string what);
// The waits of a block's threads.
BlockWaits waits_of(const Block& block);
// The deadlock of a cluster in which nothing can move.
Deadlock deadlock_of(const Cluster& cluster);

}  // namespace inflight::machine
