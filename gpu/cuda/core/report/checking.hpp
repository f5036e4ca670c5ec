// inflight check: the process's detectors, what becomes of their findings, and its exit status.
#pragma once
#include "gpu/check/listener.hpp"

namespace inflight::cuda {

// The detectors, if the settings ask for them; else null.
check::Listener* checker();
// Does a finding say already why this launch ended?
bool checking_explains(std::uint64_t launch);
// Says how much was found, once the process has nothing more to run, or leaves that to the command
// that collects it. In the former case the process ends with status 86 if that is any mistake.
void conclude_checking();

}  // namespace inflight::cuda
