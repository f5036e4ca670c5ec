// Common to every header with device code: the declaration of its functions, and the target
// architecture.
#pragma once
#include <inflight/base/host_device.cuh>

#if !defined(__CUDACC__)
#  error \
      "This Inflight header has device code: compile the file with nvcc, or with clang++ -x cuda. Plain C++ files can include <inflight/launch.cuh>, <inflight/tensor_map.cuh> and <inflight/swizzle.cuh>."
#endif

#define INFLIGHT_DEVICE __device__ __forceinline__

namespace inflight {
namespace impl {

// The compute capability of the device code being compiled, times 100: 800, 900. Host code has none
// and passes every check.
#if defined(__CUDA_ARCH__)
inline constexpr int compiled_for = __CUDA_ARCH__;
#else
inline constexpr int compiled_for = 1 << 20;
#endif
static_assert(compiled_for >= 800,
              "Inflight needs sm_80 or later: compile with -arch=sm_80 or higher.");

// std::declval for device code too: Clang rejects host functions in device code, even uncalled
// ones.
template <class T>
__host__ __device__ T&& declval() noexcept;

// For static_assert in templates: false, but only once the template is used.
template <class...>
inline constexpr bool never = false;

// True if the chip has thread block clusters, bulk and tensor copies. It depends on T so that it is
// evaluated when a template is instantiated, not when it is parsed.
template <class T = void>
inline constexpr bool has_sm90 = compiled_for >= 900 && sizeof(T*) != 0;

// The error for a use of an sm_90 feature on an older chip. Use is a template parameter of the
// caller's.
template <class Use>
INFLIGHT_HOST_DEVICE constexpr void require_bulk_copies() {
  static_assert(has_sm90<Use>,
                "Bulk copies need sm_90 or later: compile with -arch=sm_90a. On sm_80 copy with "
                "memcpy_async or cp_async.");
}
template <class Use>
INFLIGHT_HOST_DEVICE constexpr void require_byte_masks() {
  static_assert(compiled_for >= 1000 && sizeof(Use*) != 0,
                "Bulk stores with a byte mask need sm_100 or later: compile with -arch=sm_100.");
}
// nvcc's -arch=sm_90a compiles for plain sm_90 too, so this cannot ask for the `a`; ptxas does.
template <class Use>
INFLIGHT_HOST_DEVICE constexpr void require_warpgroups() {
  static_assert(has_sm90<Use>,
                "Products of a warpgroup and changes of registers need sm_90a: compile with "
                "-arch=sm_90a. For sm_80 there is multiply_add, in one warp.");
}
template <class Use>
INFLIGHT_HOST_DEVICE constexpr void require_clusters() {
  static_assert(has_sm90<Use>,
                "Thread block clusters need sm_90 or later: compile with -arch=sm_90a.");
}

}  // namespace impl
}  // namespace inflight
