// Tells whoever listens (statistics, detectors) what the host does. Costs a branch when nobody
// does.
#pragma once
#include "gpu/check/listener.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"

namespace inflight::cuda {

// The listener that the settings ask for, or null.
check::Listener* observer();
// What the listener has to say, at the end of the process and when a context dies: programs abort
// then. Says nothing twice.
void report_observed();

void observe_edge(check::StreamEdge::Kind kind, const Stream& stream, std::uint64_t other = 0);
void observe_copy(const Stream& stream, const Copy& copy, bool asynchronous);
void observe_fill(const Stream& stream, const Fill& fill, bool asynchronous);
void observe_allocation(check::Allocation::Step step, check::Allocation::Kind kind, int device,
                        std::uint64_t address, std::uint64_t bytes,
                        const Stream* ordered = nullptr);

}  // namespace inflight::cuda
