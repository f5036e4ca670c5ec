// What every header of the library needs: how its functions are declared, and which chip they are
// compiled for.
#pragma once
#include <inflight/impl/standard.cuh>

#if !defined(__CUDACC__)
#  error "Inflight's headers are CUDA C++: compile with nvcc (or clang++ -x cuda)."
#endif
#if __cplusplus < 201703L
#  error "Inflight's headers need C++17: compile with -std=c++17 or later."
#endif

#define INFLIGHT_DEVICE __device__ __forceinline__
#define INFLIGHT_HOST_DEVICE __host__ __device__ __forceinline__

namespace inflight {
namespace impl {

// The compute capability that device code is being compiled for, times ten: 800, 900. Host code has
// none, and refuses nothing.
#if defined(__CUDA_ARCH__)
inline constexpr int target = __CUDA_ARCH__;
#else
inline constexpr int target = 1 << 20;
#endif
static_assert(target >= 800, "Inflight needs sm_80 or later: compile with -arch=sm_80 or higher.");

// For static_assert in templates: false, but only once the template is used.
template <class...>
inline constexpr bool never = false;

// True where the chip has thread block clusters, bulk and tensor copies. Depends on T so that it is
// asked when a template is used, not when it is read.
template <class T = void>
inline constexpr bool has_sm90 = target >= 900 && sizeof(T*) != 0;

}  // namespace impl
}  // namespace inflight
