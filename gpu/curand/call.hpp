// The steps that every cuRAND call has: its result, and the report of what is not supported.
#pragma once
#include <string_view>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/curand/abi.hpp"

#define INFLIGHT_CURAND extern "C" __attribute__((visibility("default")))

namespace inflight::curand {

Result result_of(cuda::Status status);
Result of_exception(const char* name);

// Returns the result of body() as a number. An exception becomes the matching result.
template <class Body>
int answer(const char* name, Body body) {
  try {
    return int(body());
  } catch (...) {
    return int(of_exception(name));
  }
}

// Reports once that a call, or what it asks for, is not supported. Returns arch_mismatch.
Result refuse(const char* name, std::string_view what);

}  // namespace inflight::curand
