// What a fault says: one readable paragraph for standard error.
#pragma once
#include <string>

#include "gpu/machine/run/cluster.hpp"

namespace inflight::machine {

// Kernel, source line, PTX line, block, thread (the first lane of `lane_mask`) and `what`.
std::string fault_report(const Warp& w, const Op* op, FaultKind kind, std::uint32_t lane_mask,
                         const std::string& what);
// Who waits for what in a cluster in which nothing can move.
std::string deadlock_report(const Cluster& cluster);
// The same facts for a block of a launch that was stopped.
std::string describe_waits(const Block& block);
// Where an instruction of the program stands (numbering.hpp): its source line, else its PTX line.
std::string place_of(const Program& program, std::uint64_t number);
// Its name as the program's source has it.
std::string kernel_of(const Grid& grid);

}  // namespace inflight::machine
