// What every header with device code needs: how its functions are declared, and which chip they are
// compiled for.
#pragma once
#include <inflight/impl/host_device.cuh>

#if !defined(__CUDACC__)
#  error \
      "This header of Inflight's has device code: compile the file with nvcc, or with clang++ -x cuda. Files of C++ alone can include <inflight/launch.cuh>, <inflight/tensor_map.cuh> and <inflight/swizzle.cuh>."
#endif

#define INFLIGHT_DEVICE __device__ __forceinline__

namespace inflight {
namespace impl {

// The compute capability that device code is being compiled for, times ten: 800, 900. Host code has
// none, and refuses nothing.
#if defined(__CUDA_ARCH__)
inline constexpr int compiled_for = __CUDA_ARCH__;
#else
inline constexpr int compiled_for = 1 << 20;
#endif
static_assert(compiled_for >= 800,
              "Inflight needs sm_80 or later: compile with -arch=sm_80 or higher.");

// std::declval, for device code too: Clang keeps host functions out of it, also where none is
// called.
template <class T>
__host__ __device__ T&& declval() noexcept;

// For static_assert in templates: false, but only once the template is used.
template <class...>
inline constexpr bool never = false;

// True where the chip has thread block clusters, bulk and tensor copies. Depends on T so that it is
// asked when a template is used, not when it is read.
template <class T = void>
inline constexpr bool has_sm90 = compiled_for >= 900 && sizeof(T*) != 0;

// What is said where something of sm_90 is used for an older chip. Use is a type that the caller's
// template leaves open.
template <class Use>
INFLIGHT_HOST_DEVICE constexpr void require_bulk_copies() {
  static_assert(has_sm90<Use>,
                "Bulk copies need sm_90 or later: compile with -arch=sm_90a. On sm_80 copy with "
                "memcpy_async or cp_async.");
}
template <class Use>
INFLIGHT_HOST_DEVICE constexpr void require_clusters() {
  static_assert(has_sm90<Use>,
                "Thread block clusters need sm_90 or later: compile with -arch=sm_90a.");
}

}  // namespace impl
}  // namespace inflight
