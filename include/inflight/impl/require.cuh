// Run-time checks of preconditions that types cannot express. A violation ends the kernel as a
// failed assert() does, with a message (cudaErrorAssert). The check costs nothing where the
// compiler can prove it, nor anywhere with NDEBUG.
#pragma once
#include <inflight/base/config.cuh>

// The function that assert() calls in device code, which the driver implements.
extern "C" __device__ void __assertfail(const char* sentence, const char* file, unsigned line,
                                        const char* function, std::size_t char_bytes);

#if defined(NDEBUG)
#  define INFLIGHT_REQUIRE(promise, sentence) static_cast<void>(0)
#else
#  define INFLIGHT_REQUIRE(promise, sentence) \
    ((promise) ? static_cast<void>(0) : __assertfail(sentence, __FILE__, __LINE__, __func__, 1))
#endif

// The same where a product of a warpgroup may be in flight. A call would make ptxas serialise the
// products, so a violation ends the kernel with a trap, without a sentence.
#if defined(NDEBUG)
#  define INFLIGHT_REQUIRE_OR_TRAP(promise) static_cast<void>(0)
#else
#  define INFLIGHT_REQUIRE_OR_TRAP(promise) ((promise) ? static_cast<void>(0) : __trap())
#endif

namespace inflight::impl {

// Where ptx/wgmma.cuh has traps: says why.
INFLIGHT_DEVICE void require_sm_90a_at_run_time() {
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
  INFLIGHT_REQUIRE(false,
                   "products of a warpgroup and setmaxnreg run on sm_90a only, and this code was "
                   "compiled for another architecture: compile with -arch=sm_90a");
#endif
}

}  // namespace inflight::impl
