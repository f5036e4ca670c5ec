// The number of host cores that this process may use.
#pragma once

namespace inflight::host {

// Returns the number of cores in the process's affinity mask, at least one. taskset, Slurm and
// containers restrict the mask. It is read once.
unsigned cores();

}  // namespace inflight::host
