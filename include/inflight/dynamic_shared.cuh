// An object in dynamic shared memory, which a launch gives in bytes and at no more than a multiple
// of 16: swizzled tiles want up to 1024.
//
//   struct storage { tile a[4], b[4]; inflight::barrier<> ready[4]; };
//   auto& shared = inflight::dynamic_shared<storage>();                     // in the kernel
//   shape.shared = inflight::dynamic_shared_bytes<storage>();               // at the launch
#pragma once
#include <inflight/ptx/address.cuh>

namespace inflight {

namespace impl {

// Of what the launch gives. CUDA C++ Programming Guide, "Dynamically allocated shared memory".
inline constexpr std::size_t dynamic_shared_alignment = 16;

INFLIGHT_DEVICE std::uint32_t dynamic_shared_begin() {
  extern __shared__ uint4 dynamic_shared_memory[];
  return ptx::shared_address(dynamic_shared_memory);
}

}  // namespace impl

// The bytes of dynamic shared memory that dynamic_shared<T>() needs: those of a T, and what
// rounding up to its alignment may skip.
template <class T>
INFLIGHT_HOST_DEVICE constexpr std::size_t dynamic_shared_bytes() {
  return sizeof(T) + (alignof(T) > impl::dynamic_shared_alignment
                          ? alignof(T) - impl::dynamic_shared_alignment
                          : 0);
}

// The T at the first multiple of alignof(T) of the block's dynamic shared memory: the same in all
// threads and at every call. It is not constructed. An addition and an `and`, once; the compiler
// knows the alignment from then on.
template <class T>
INFLIGHT_DEVICE T& dynamic_shared() {
  constexpr auto alignment = static_cast<std::uint32_t>(alignof(T));
  const std::uint32_t at = (impl::dynamic_shared_begin() + alignment - 1) & (0u - alignment);
  return *static_cast<T*>(__cvta_shared_to_generic(at));
}

}  // namespace inflight
