// How an entry point's body runs, and how its failure is reported.
#pragma once
#include "gpu/cuda/core/base/guard.hpp"
#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/report/call.hpp"

namespace inflight::cuda {

// The call returns this status, translated to `code`. Reports the failure, unless the call is
// inside another, or only repeats the error that ended the context.
void report_failed_call(const Call& call, Status status, int code);

// Runs an entry point's body and reports its failure. `code_of` gives the code of its API.
template <class CodeOf, class Body>
int called(const char* name, CodeOf&& code_of, Body&& body) {
  Call call(name);
  const Status status = guarded(name, body);
  const int code = code_of(status);
  if (status != Status::success) [[unlikely]]
    report_failed_call(call, status, code);
  return code;
}

}  // namespace inflight::cuda
