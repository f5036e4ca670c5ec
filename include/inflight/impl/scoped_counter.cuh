// Counters in ordinary memory that the threads of a scope share, on host and device: PTX ISA,
// "atom" and "Memory Consistency Model".
#pragma once
#include <inflight/ptx/memory.cuh>
#include <inflight/thread_scope.cuh>

namespace inflight::impl {

// As std::type_identity_t of C++20: a parameter of this type takes no part in deduction.
template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;

template <thread_scope Scope>
inline constexpr ptx::scope scope_of = Scope == thread_scope_system   ? ptx::scope::sys
                                       : Scope == thread_scope_device ? ptx::scope::gpu
                                                                      : ptx::scope::cta;

// Of 32 or 64 bits. An acquire that reads what another thread's release wrote sees what that thread
// did before.
template <thread_scope Scope, class Word>
INFLIGHT_HOST_DEVICE void store_release(Word* at, type_identity_t<Word> value) {
#if defined(__CUDA_ARCH__)
  ptx::st_release<scope_of<Scope>>(at, value);
#else
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
#endif
}
template <thread_scope Scope, class Word>
INFLIGHT_HOST_DEVICE Word load_acquire(const Word* at) {
#if defined(__CUDA_ARCH__)
  return ptx::ld_acquire<scope_of<Scope>>(at);
#else
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}
// Adds, acquires and releases; returns the value before. In a thread's local memory, which has no
// atomics, it is an addition.
template <thread_scope Scope, class Word>
INFLIGHT_HOST_DEVICE Word add_acq_rel(Word* at, type_identity_t<Word> value) {
#if defined(__CUDA_ARCH__)
  if (__isLocal(at)) {
    const Word before = *at;
    *at = before + value;
    return before;
  }
  return ptx::atom_add_acq_rel<scope_of<Scope>>(at, value);
#else
  return __atomic_fetch_add(at, value, __ATOMIC_ACQ_REL);
#endif
}

}  // namespace inflight::impl
