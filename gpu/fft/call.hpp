// The steps that every cuFFT call has: its result, and the report of what is not supported.
#pragma once
#include <string_view>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/fft/abi.hpp"

#define INFLIGHT_CUFFT extern "C" __attribute__((visibility("default")))

namespace inflight::fft {

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

// Reports once that a call, or what it asks for, is not supported. Returns not_implemented.
Result refuse(const char* name, std::string_view what);

// The answer to a call that gets a number.
template <class T>
Result store(T* place, T value) {
  if (!place) return Result::invalid_value;
  *place = value;
  return Result::success;
}

}  // namespace inflight::fft
