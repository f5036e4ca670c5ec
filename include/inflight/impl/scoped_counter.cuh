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

// 32 bits. An acquire that reads what another thread's release wrote sees what that thread did
// before.
template <thread_scope Scope>
class scoped_counter {
 public:
  scoped_counter() = default;

  INFLIGHT_HOST_DEVICE void store_release(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
    ptx::st_release<scope_of<Scope>>(&value_, value);
#else
    __atomic_store_n(&value_, value, __ATOMIC_RELEASE);
#endif
  }
  INFLIGHT_HOST_DEVICE std::uint32_t load_acquire() const {
#if defined(__CUDA_ARCH__)
    return ptx::ld_acquire<scope_of<Scope>>(&value_);
#else
    return __atomic_load_n(&value_, __ATOMIC_ACQUIRE);
#endif
  }
  INFLIGHT_HOST_DEVICE std::uint32_t load_relaxed() const {
#if defined(__CUDA_ARCH__)
    return ptx::ld_relaxed<scope_of<Scope>>(&value_);
#else
    return __atomic_load_n(&value_, __ATOMIC_RELAXED);
#endif
  }
  // Subtracts and returns the value before.
  INFLIGHT_HOST_DEVICE std::uint32_t subtract_relaxed(std::uint32_t by) {
#if defined(__CUDA_ARCH__)
    return ptx::atom_add_relaxed<scope_of<Scope>>(&value_, 0u - by);
#else
    return __atomic_fetch_sub(&value_, by, __ATOMIC_RELAXED);
#endif
  }
  INFLIGHT_HOST_DEVICE std::uint32_t subtract_acq_rel(std::uint32_t by) {
#if defined(__CUDA_ARCH__)
    return ptx::atom_add_acq_rel<scope_of<Scope>>(&value_, 0u - by);
#else
    return __atomic_fetch_sub(&value_, by, __ATOMIC_ACQ_REL);
#endif
  }

 private:
  std::uint32_t value_;
};

}  // namespace inflight::impl
