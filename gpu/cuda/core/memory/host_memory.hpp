// Pinned host memory, made by cudaHostAlloc or registered by cudaHostRegister.
#pragma once
#include <cstdint>
#include <optional>

#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

class Device;

struct HostBlock {
  std::uint64_t base = 0, bytes = 0;
  unsigned flags = 0;       // as cudaHostGetFlags returns them
  bool registered = false;  // the program's own memory
  int device = 0;
};

// Page-aligned memory that every device can reach (out_of_memory). 0 bytes give null.
Result<void*> allocate_host(const Device& device, std::uint64_t bytes, unsigned flags);
Status free_host(void* base);  // invalid_value: no such block

// invalid_value: also if part of the range is not mapped or not writable; out_of_memory: more than
// the host has; host_memory_already_registered, host_memory_not_registered.
Status register_host(const Device& device, void* base, std::uint64_t bytes, unsigned flags);
Status unregister_host(void* base);

// The block that holds `address`, if any.
std::optional<HostBlock> host_block(const void* address);
void release_host_memory(int device);

}  // namespace inflight::cuda
