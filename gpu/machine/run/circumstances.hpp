// What a warp, a block and a cluster know for the reports of faults, waits and deadlocks.
#pragma once
#include <string>

#include "gpu/machine/report/report.hpp"
#include "gpu/machine/run/cluster.hpp"

namespace inflight::machine {

// Of a fault at `op` that threads of the lanes of `lane_mask` made.
Fault fault_of(const Warp& w, const Op* op, FaultKind kind, std::uint32_t lane_mask,
               std::string what);
// What the threads of a block wait for.
BlockWaits waits_of(const Block& block);
// Of a cluster in which nothing can move.
Deadlock deadlock_of(const Cluster& cluster);

}  // namespace inflight::machine
