// An object in dynamic shared memory, of which a launch only sets the size in bytes and aligns the
// start to 16. Swizzled tiles need up to 1024.
//
//   struct storage { tile a[4], b[4]; inflight::barrier<> ready[4]; };
//   auto& shared = inflight::dynamic_shared<storage>();                     // in the kernel
//   shape.shared = inflight::dynamic_shared_bytes<storage>();               // at the launch
#pragma once
#include <inflight/ptx/address.cuh>

namespace inflight {

namespace impl {

// Alignment of the start of dynamic shared memory. CUDA C++ Programming Guide, "Dynamically
// allocated shared memory".
inline constexpr std::size_t dynamic_shared_alignment = 16;

INFLIGHT_DEVICE std::uint32_t dynamic_shared_begin() {
  extern __shared__ uint4 dynamic_shared_memory[];
  return ptx::shared_address(dynamic_shared_memory);
}

}  // namespace impl

// Bytes of dynamic shared memory that dynamic_shared<T>() needs: those of a T, and the most that
// rounding up to its alignment skips.
template <class T>
INFLIGHT_HOST_DEVICE constexpr std::size_t dynamic_shared_bytes() {
  return sizeof(T) + (alignof(T) > impl::dynamic_shared_alignment
                          ? alignof(T) - impl::dynamic_shared_alignment
                          : 0);
}

// The T at the first multiple of alignof(T) in the block's dynamic shared memory: the same in all
// threads and at every call. It is not constructed. Costs an addition and an `and`, once, and lets
// the compiler assume the alignment.
template <class T>
INFLIGHT_DEVICE T& dynamic_shared() {
  constexpr auto alignment = static_cast<std::uint32_t>(alignof(T));
  const std::uint32_t at = (impl::dynamic_shared_begin() + alignment - 1) & (0u - alignment);
  return *static_cast<T*>(__cvta_shared_to_generic(at));
}

}  // namespace inflight
