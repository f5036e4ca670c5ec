// Common to all headers, also those that a host-only C++ compiler compiles.
#pragma once
#include <inflight/base/standard.cuh>

#if __cplusplus < 201703L
#  error "Inflight's headers need C++17: compile with -std=c++17 or later."
#endif

#if defined(__CUDACC__)
#  define INFLIGHT_HOST_DEVICE __host__ __device__ __forceinline__
#else
#  define INFLIGHT_HOST_DEVICE inline
#endif

// In a function for host and device: what only the device does.
#if defined(__CUDA_ARCH__)
#  define INFLIGHT_ON_DEVICE(...) __VA_ARGS__
#else
#  define INFLIGHT_ON_DEVICE(...)
#endif

// Before a template for host and device that calls what its arguments bring, which may be for one
// of the two only: nvcc then does not warn of the other.
#if defined(__NVCC__)
#  define INFLIGHT_CALLS_ARGUMENTS _Pragma("nv_exec_check_disable")
#else
#  define INFLIGHT_CALLS_ARGUMENTS
#endif
