// Device memory that other processes use (CUDA programming guide, "Interprocess Communication").
#pragma once
#include <cstdint>

#include "gpu/cuda/core/report/status.hpp"
#include "gpu/cuda/core/sharing/handle.hpp"

namespace inflight::cuda {

// Of the allocation that holds `pointer` (invalid_value: it is none of cudaMalloc's).
Status export_memory(SharingHandle* to, const void* pointer);
bool can_export(std::uint64_t address);
// Its first byte in this process: the same for every time that it is open (invalid_value; those of
// open_shared).
Status import_memory(void** place, const SharingHandle&, unsigned flags);
// As often as it was opened (invalid_value: it is not open).
Status close_imported(const void* pointer);
// Closes what was opened on a device.
void forget_imported(int device);

}  // namespace inflight::cuda
