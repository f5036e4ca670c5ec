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
