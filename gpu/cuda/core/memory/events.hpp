// Copies, fills and allocations, as listeners hear of them.
#pragma once
#include "gpu/check/events.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::cuda {

// Report a copy or fill as it is done, in the stream's current work.
void observe_copy(const Stream& stream, const Copy& copy);
void observe_fill(const Stream& stream, const Fill& fill);
// Reports that memory which kernels may access is made or released.
void observe_memory(const machine::Allocation& allocation, bool made);
// Reports a cudaFree of memory of a pool, which waits for no stream.
void observe_release(const machine::Allocation& allocation);
// Reports a stream-ordered step of an allocation, in the stream's current work.
void observe_ordered(check::Allocation::Step step, std::uint64_t address, std::uint64_t bytes,
                     const Stream& stream);

}  // namespace inflight::cuda
