// Accesses by the program's host code to device memory, which on a GPU end the process with
// SIGSEGV. A signal tells of them, because the memory is closed while no thread of ours works with
// it (machine/memory/host_view).
#pragma once
#include <cstdint>

#include "gpu/machine/memory/memory.hpp"

namespace inflight::cuda::watch {

// From now on such an access is reported to the detectors and goes on, or, without a checker, is
// explained on standard error and passed to the program's handler or the default action.
// `performs_work`: whether the calling thread performs a stream's work.
void watch_device_memory(machine::Memory& memory, bool (*performs_work)());

// Reports all accesses so far to the detectors.
void report_device_touches();

// A system call by the program's code at `code` is to access the range, which may be anywhere.
void device_touched_by_call(std::uint64_t address, std::uint64_t bytes, bool write,
                            const void* code);

}  // namespace inflight::cuda::watch
