// What callers promise and types cannot hold them to, asked when the kernel runs. A broken promise
// ends the kernel as a failed assert() does, with a sentence (cudaErrorAssert); where the compiler
// can see that a promise is kept nothing is left of the question, and with NDEBUG nothing anywhere.
#pragma once
#include <inflight/impl/config.cuh>

// What assert() calls in device code, in whose place the driver puts its own.
extern "C" __device__ void __assertfail(const char* sentence, const char* file, unsigned line,
                                        const char* function, std::size_t char_bytes);

#if defined(NDEBUG)
#  define INFLIGHT_REQUIRE(promise, sentence) static_cast<void>(0)
#else
#  define INFLIGHT_REQUIRE(promise, sentence) \
    ((promise) ? static_cast<void>(0) : __assertfail(sentence, __FILE__, __LINE__, __func__, 1))
#endif
