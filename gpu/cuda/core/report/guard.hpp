// The boundary that no exception passes: every entry point, and every task of a stream, runs inside
// guarded().
#pragma once
#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

// Writes one sentence about the exception that is being handled, without allocating, and gives the
// status that stands for it: out_of_memory for std::bad_alloc, unknown for everything else. `call`
// names what failed. To be called in a handler only. A thread that is being cancelled unwinds on.
Status status_of_exception(const char* call);

// body(), or the status of what it throws.
template <class Body>
Status guarded(const char* call, Body&& body) {
  try {
    return body();
  } catch (...) {
    return status_of_exception(call);
  }
}

}  // namespace inflight::cuda
