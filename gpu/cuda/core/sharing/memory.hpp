// Device memory that other processes use (CUDA programming guide, "Interprocess Communication").
#pragma once
#include <cstdint>

#include "gpu/cuda/core/report/status.hpp"
#include "gpu/cuda/core/sharing/handle.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::cuda {

// Another process's memory, mapped. Null: it cannot be.
struct MappedShare {
  void* at = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t memory = 0;  // the address of the memory itself, at or behind the mapping's begin
};
MappedShare map_shared(const SharingHandle&, int file);
// A handle of an allocation, whose pages move into a file (out_of_memory).
Result<SharingHandle> share_allocation(const machine::Allocation&, SharingHandle::Kind);

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
