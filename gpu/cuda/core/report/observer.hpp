// Events of the host for the process's listener (statistics, detectors). Without one, an event
// costs a branch.
#pragma once
#include "gpu/check/listener.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"

namespace inflight::cuda {

// The listener that the settings choose, or null.
check::Listener* observer();
// Writes the listener's report: at the end of the process, and when a context dies, since programs
// often abort then. Nothing is written twice.
void report_observed();

void observe_edge(check::StreamEdge::Kind kind, const Stream& stream, std::uint64_t other = 0);
void observe_copy(const Stream& stream, const Copy& copy, bool asynchronous);
void observe_fill(const Stream& stream, const Fill& fill, bool asynchronous);
void observe_allocation(check::Allocation::Step step, check::Allocation::Kind kind, int device,
                        std::uint64_t address, std::uint64_t bytes,
                        const Stream* ordered = nullptr);

}  // namespace inflight::cuda
