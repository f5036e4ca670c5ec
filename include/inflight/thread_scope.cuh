// The set of threads that may share an object: PTX ISA, "Memory Consistency Model: Scope".
//
// The names are libcu++'s own where its headers are installed, so that one scope serves
// cuda::atomic and inflight::barrier alike.
#pragma once
#include <inflight/base/config.cuh>

#if !defined(__CUDACC_RTC__) && defined(__has_include)
#  if __has_include(<cuda/std/__atomic/scopes.h>)
#    include <cuda/std/__atomic/scopes.h>
#    define INFLIGHT_HAS_CUDA_SCOPES 1
#  endif
#endif

namespace inflight {

#if defined(INFLIGHT_HAS_CUDA_SCOPES)
using ::cuda::thread_scope;
using ::cuda::thread_scope_block;
using ::cuda::thread_scope_device;
using ::cuda::thread_scope_system;
using ::cuda::thread_scope_thread;
#else
enum thread_scope {
  thread_scope_system = 0,
  thread_scope_device = 1,
  thread_scope_block = 2,
  thread_scope_thread = 10,
};
#endif

}  // namespace inflight

#undef INFLIGHT_HAS_CUDA_SCOPES
