// Device memory that other processes use (CUDA programming guide, "Interprocess Communication").
#pragma once
#include <cstdint>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/sharing/handle.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::cuda {

// A mapping of another process's memory. Null: it cannot be mapped.
struct MappedShare {
  void* at = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t memory = 0;  // the address of the memory, at or after the mapping's begin
};
MappedShare map_shared(const SharingHandle&, int file);
// Makes a handle for an allocation, and moves its pages into a file (out_of_memory).
Result<SharingHandle> share_allocation(const machine::Allocation&, SharingHandle::Kind);

// Makes a handle for the allocation that holds `pointer` (invalid_value: not made by cudaMalloc).
Status export_memory(SharingHandle* to, const void* pointer);
bool can_export(std::uint64_t address);
// Maps the memory and stores its first address, which is the same each time while it is open
// (invalid_value; fails as open_shared does).
Status import_memory(void** place, const SharingHandle&, unsigned flags);
// Undoes one import_memory(). The last one unmaps it (invalid_value: it is not open).
Status close_imported(const void* pointer);
// Closes all memory that was opened on a device.
void forget_imported(int device);

}  // namespace inflight::cuda
