// No exception leaves the software GPU: every entry point and every task of a stream runs inside
// guarded().
#pragma once
#include "gpu/cuda/core/report/status.hpp"

namespace inflight::cuda {

// Reports the current exception without allocating, and returns its status: out_of_memory for
// std::bad_alloc, unknown for any other. `call` names what failed. Call it in a handler only.
// Thread cancellation goes on unwinding.
Status status_of_exception(const char* call);

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
