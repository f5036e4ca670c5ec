// Generic pointers and the addresses that PTX's state spaces count in: PTX ISA, "cvta".
#pragma once
#include <inflight/impl/config.cuh>

namespace inflight::ptx {

// The address in this block's shared memory that a generic pointer stands for, as instructions on
// .shared take it.
INFLIGHT_DEVICE std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// The same for global memory.
INFLIGHT_DEVICE std::uint64_t global_address(const void* pointer) {
  return static_cast<std::uint64_t>(__cvta_generic_to_global(pointer));
}

}  // namespace inflight::ptx
