// Conversion of generic pointers to addresses in PTX's state spaces: PTX ISA, "cvta".
#pragma once
#include <inflight/base/config.cuh>

namespace inflight::ptx {

// The address in the shared window for a generic pointer to this block's shared memory, as
// instructions on .shared take it. Clang gets the instruction, because it rejects the conversion of
// an address known to be in another space, even in code that never runs.
INFLIGHT_DEVICE std::uint32_t shared_address(const void* pointer) {
#if defined(__clang__) && defined(__CUDA__)
  std::uint64_t address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(pointer));
  return static_cast<std::uint32_t>(address);
#else
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
#endif
}

// The same for global memory.
INFLIGHT_DEVICE std::uint64_t global_address(const void* pointer) {
#if defined(__clang__) && defined(__CUDA__)
  std::uint64_t address;
  asm("cvta.to.global.u64 %0, %1;" : "=l"(address) : "l"(pointer));
  return address;
#else
  return static_cast<std::uint64_t>(__cvta_generic_to_global(pointer));
#endif
}

// Start of the shared memory that each block has reserved for system software. In a cluster, it is
// that of the block of rank 0. PTX ISA, "%reserved_smem_offset_begin".
INFLIGHT_DEVICE std::uint32_t reserved_shared_begin() {
  std::uint32_t begin;
  asm("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(begin));
  return begin;
}

}  // namespace inflight::ptx
