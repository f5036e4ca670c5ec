// inflight check: the process's detectors, the reports of their findings, and the exit status.
#pragma once
#include "gpu/check/listener.hpp"
#include "gpu/check/report/left_undone.hpp"

namespace inflight::cuda {

// The detectors, or null if the settings do not turn them on.
check::Listener* checker();
// True if a finding already says why this launch ended.
bool checking_explains(std::uint64_t launch);
// Called once the process has nothing more to run and the watch on host accesses has ended. Reports
// a summary, or leaves that to the command that collects findings. In the former case, any mistake
// ends the process with INFLIGHT_ERROR_EXITCODE (default 86). `left`: what did not run to its end.
void conclude_checking(const check::LeftUndone& left);
// A report could not be written, so the process will end with status 1 if nothing else changes its
// status.
void fail_at_end();

}  // namespace inflight::cuda
