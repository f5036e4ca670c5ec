// No exception leaves the software GPU: every entry point and every task of a stream runs inside
// guarded().
#pragma once
#include <bits/cxxabi_forced.h>

#include <cstdio>
#include <exception>
#include <new>

#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

// Reports the current exception without allocating, and returns its status: out_of_memory for
// std::bad_alloc, unknown for any other. `call` names what failed. Call it in a handler only.
// Thread cancellation goes on unwinding. Each library has its own copy: where libstdc++ is linked
// statically, only the library that catches an exception can throw it again.
[[gnu::noinline]] inline Status status_of_exception(const char* call) {
  try {
    throw;
  } catch (const __cxxabiv1::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "inflight: %s failed, because this host has no more memory for it; it returns "
                 "\"out of memory\" (2). Free some, or run with less at once.\n",
                 call);
    return Status::out_of_memory;
  } catch (const std::exception& error) {
    std::fprintf(stderr,
                 "inflight: %s ended in an exception: %s. It returns \"unknown error\" (999).\n",
                 call, error.what());
  } catch (...) {
    std::fprintf(stderr,
                 "inflight: %s ended in an exception without a message. It returns \"unknown "
                 "error\" (999).\n",
                 call);
  }
  return Status::unknown;
}

// Returns body(), or the status of the exception that it throws.
template <class Body>
Status guarded(const char* call, Body&& body) {
  try {
    return body();
  } catch (...) {
    return status_of_exception(call);
  }
}

}  // namespace inflight::cuda
