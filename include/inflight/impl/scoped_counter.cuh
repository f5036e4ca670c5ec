// Counters in ordinary memory that the threads of a scope share, on host and device: PTX ISA,
// "atom" and "Memory Consistency Model".
#pragma once
#include <inflight/ptx/memory.cuh>
#include <inflight/thread_scope.cuh>

namespace inflight::impl {

template <thread_scope Scope>
inline constexpr ptx::scope scope_of = Scope == thread_scope_system   ? ptx::scope::sys
                                       : Scope == thread_scope_device ? ptx::scope::gpu
                                                                      : ptx::scope::cta;

// 64 bits. An acquire that reads what another thread's release wrote sees what that thread did
// before.
template <thread_scope Scope>
INFLIGHT_HOST_DEVICE void store_release(std::uint64_t* at, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  ptx::st_release<scope_of<Scope>>(at, value);
#else
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
#endif
}
template <thread_scope Scope>
INFLIGHT_HOST_DEVICE std::uint64_t load_acquire(const std::uint64_t* at) {
#if defined(__CUDA_ARCH__)
  return ptx::ld_acquire<scope_of<Scope>>(at);
#else
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}
// Adds, acquires and releases; returns the value before.
template <thread_scope Scope>
INFLIGHT_HOST_DEVICE std::uint64_t add_acq_rel(std::uint64_t* at, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  return ptx::atom_add_acq_rel<scope_of<Scope>>(at, value);
#else
  return __atomic_fetch_add(at, value, __ATOMIC_ACQ_REL);
#endif
}

}  // namespace inflight::impl
