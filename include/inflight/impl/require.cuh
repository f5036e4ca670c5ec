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
