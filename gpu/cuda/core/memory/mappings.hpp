// Mappings that the program has given up: of graphs' memory, pinned memory and other processes'
// memory. They stay until no work can use them.
#pragma once
#include <cstdint>

namespace inflight::cuda {

// Unmaps the range when the work that is in any device's streams now is done. Kernels and checks
// must not find it any more (machine::Memory::release).
void unmap_when_unused(void* at, std::uint64_t bytes);
// Unmaps the ranges whose time has come.
void unmap_unused();
// Waits for the work that is in any device's streams now.
void wait_for_pending_work();
// What a call waits for before it frees the memory at `address`, which belongs to `owner`:
// synchronises that device, and waits for the work of other devices that reach the memory.
void wait_for_users(std::uint64_t address, int owner);

}  // namespace inflight::cuda
