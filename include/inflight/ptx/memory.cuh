// Memory accesses with ordering: PTX ISA, "ld", "st", "red", "atom" and "Memory Consistency Model".
//
// All take 32- and 64-bit unsigned integers, some bytes, at a generic address, and apply to the
// threads of `Scope`. An acquire that reads a release's value makes visible everything before that
// release. A relaxed access orders nothing.
#pragma once
#include <inflight/base/config.cuh>

namespace inflight::ptx {

// The threads to which an access's ordering applies: the block, the cluster (sm_90), the GPU, the
// system.
enum class scope { cta, cluster, gpu, sys };

// One instruction in its four scopes, because PTX takes the scope as text.
#define INFLIGHT_SCOPED(FRONT, BACK, ...)            \
  if constexpr (Scope == scope::cta)                 \
    asm volatile(FRONT ".cta" BACK __VA_ARGS__);     \
  else if constexpr (Scope == scope::cluster)        \
    asm volatile(FRONT ".cluster" BACK __VA_ARGS__); \
  else if constexpr (Scope == scope::gpu)            \
    asm volatile(FRONT ".gpu" BACK __VA_ARGS__);     \
  else                                               \
    asm volatile(FRONT ".sys" BACK __VA_ARGS__)

#define INFLIGHT_LOAD(NAME, ORDER, TYPE, SUFFIX, LETTER)  \
  template <scope Scope>                                  \
  INFLIGHT_DEVICE TYPE NAME(const TYPE* at) {             \
    TYPE value;                                           \
    INFLIGHT_SCOPED("ld." ORDER, "." SUFFIX " %0, [%1];", \
                    : "=" LETTER(value)                   \
                    : "l"(at)                             \
                    : "memory");                          \
    return value;                                         \
  }
#define INFLIGHT_LOAD_BYTE(NAME, ORDER)                                                \
  template <scope Scope>                                                               \
  INFLIGHT_DEVICE std::uint32_t NAME(const std::uint8_t* at) {                         \
    std::uint32_t value;                                                               \
    INFLIGHT_SCOPED("ld." ORDER, ".u8 %0, [%1];", : "=r"(value) : "l"(at) : "memory"); \
    return value;                                                                      \
  }
#define INFLIGHT_STORE(NAME, PTX, TYPE, SUFFIX, LETTER)                             \
  template <scope Scope>                                                            \
  INFLIGHT_DEVICE void NAME(TYPE* at, TYPE value) {                                 \
    INFLIGHT_SCOPED(PTX, SUFFIX " [%0], %1;", ::"l"(at), LETTER(value) : "memory"); \
  }
#define INFLIGHT_ATOMIC(NAME, ORDER, OP, TYPE, SUFFIX, LETTER)         \
  template <scope Scope>                                               \
  INFLIGHT_DEVICE TYPE NAME(TYPE* at, TYPE value) {                    \
    TYPE before;                                                       \
    INFLIGHT_SCOPED("atom." ORDER, "." OP "." SUFFIX " %0, [%1], %2;", \
                    : "=" LETTER(before)                               \
                    : "l"(at), LETTER(value)                           \
                    : "memory");                                       \
    return before;                                                     \
  }
#define INFLIGHT_BOTH_WIDTHS(KIND, ...)        \
  KIND(__VA_ARGS__, std::uint32_t, "u32", "r") \
  KIND(__VA_ARGS__, std::uint64_t, "u64", "l")
#define INFLIGHT_BOTH_WIDTHS_STORED(NAME, PTX, TAIL)         \
  INFLIGHT_STORE(NAME, PTX, std::uint32_t, TAIL ".u32", "r") \
  INFLIGHT_STORE(NAME, PTX, std::uint64_t, TAIL ".u64", "l")

// ld_relaxed<Scope>(at), ld_acquire<Scope>(at): the value.
INFLIGHT_BOTH_WIDTHS(INFLIGHT_LOAD, ld_relaxed, "relaxed")
INFLIGHT_BOTH_WIDTHS(INFLIGHT_LOAD, ld_acquire, "acquire")
INFLIGHT_LOAD_BYTE(ld_relaxed, "relaxed")
INFLIGHT_LOAD_BYTE(ld_acquire, "acquire")

// st_relaxed<Scope>(at, value), st_release<Scope>(at, value).
INFLIGHT_BOTH_WIDTHS_STORED(st_relaxed, "st.relaxed", "")
INFLIGHT_BOTH_WIDTHS_STORED(st_release, "st.release", "")
template <scope Scope>
INFLIGHT_DEVICE void st_release(std::uint8_t* at, std::uint32_t value) {
  INFLIGHT_SCOPED("st.release", ".u8 [%0], %1;", ::"l"(at), "r"(value) : "memory");
}

// red_add_relaxed<Scope>(at, value), red_add_release: adds without returning the old value.
INFLIGHT_BOTH_WIDTHS_STORED(red_add_relaxed, "red.relaxed", ".add")
INFLIGHT_BOTH_WIDTHS_STORED(red_add_release, "red.release", ".add")

// red_or_release<Scope>(at, value): sets the value's bits; red_and_release: clears all others.
INFLIGHT_STORE(red_or_release, "red.release", std::uint32_t, ".or.b32", "r")
INFLIGHT_STORE(red_and_release, "red.release", std::uint32_t, ".and.b32", "r")

// atom_add_relaxed<Scope>(at, value), _acquire, _release, _acq_rel: adds and returns the old value.
INFLIGHT_BOTH_WIDTHS(INFLIGHT_ATOMIC, atom_add_relaxed, "relaxed", "add")
INFLIGHT_BOTH_WIDTHS(INFLIGHT_ATOMIC, atom_add_acquire, "acquire", "add")
INFLIGHT_BOTH_WIDTHS(INFLIGHT_ATOMIC, atom_add_release, "release", "add")
INFLIGHT_BOTH_WIDTHS(INFLIGHT_ATOMIC, atom_add_acq_rel, "acq_rel", "add")

#undef INFLIGHT_BOTH_WIDTHS_STORED
#undef INFLIGHT_BOTH_WIDTHS
#undef INFLIGHT_ATOMIC
#undef INFLIGHT_STORE
#undef INFLIGHT_LOAD_BYTE
#undef INFLIGHT_LOAD
#undef INFLIGHT_SCOPED

// Orders the caller's accesses before and after it, for threads of the scope.
template <scope Scope>
INFLIGHT_DEVICE void fence_acq_rel() {
  if constexpr (Scope == scope::cta)
    asm volatile("fence.acq_rel.cta;" ::: "memory");
  else if constexpr (Scope == scope::cluster)
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
  else if constexpr (Scope == scope::gpu)
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  else
    asm volatile("fence.acq_rel.sys;" ::: "memory");
}

}  // namespace inflight::ptx
