// How many cores of the host this process may run on.
#pragma once

namespace inflight::host {

// Those of its affinity (taskset, Slurm and containers narrow it), at least one. Asked once.
unsigned cores();

}  // namespace inflight::host
