// Common parts of NVML calls: initialisation, device handles, storing of results, and conversion of
// exceptions.
#pragma once
#include <optional>
#include <string_view>

#include "gpu/cuda/core/base/guard.hpp"
#include "gpu/management/abi.hpp"

namespace inflight::cuda {
class Device;
struct Profile;
}  // namespace inflight::cuda

namespace inflight::management {

// Initialisations are counted. The library is initialised until as many shutdowns were called.
void initialize();
Return shut_down();
bool initialized();

// The devices set by INFLIGHT_DEVICE and INFLIGHT_DEVICES, regardless of CUDA_VISIBLE_DEVICES.
// These functions do not initialise CUDA, so that a program may still fork after a call.
const cuda::Profile& profile();
unsigned device_count();
Handle* handle_of(unsigned ordinal);
std::optional<unsigned> ordinal_of(const Handle* handle);
// The CUDA device. Null if this process has not initialised CUDA or does not see the device.
cuda::Device* in_use(unsigned ordinal);

// Writes `text` and a NUL. Returns insufficient_size if `bytes` is too small, invalid_argument if
// `to` is null.
Return store_text(std::string_view text, char* to, unsigned bytes);

template <class T>
Return store(T* to, T value) {
  if (!to) return Return::invalid_argument;
  *to = value;
  return Return::success;
}

Return of_exception(const char* name);

// Returns the code of body(), or of the exception that it throws, or uninitialized.
template <class Body>
int answer(const char* name, Body&& body) {
  if (!initialized()) return int(Return::uninitialized);
  try {
    return int(body());
  } catch (...) {
    return int(of_exception(name));
  }
}

}  // namespace inflight::management

#define INFLIGHT_NVML_EXPORT extern "C" __attribute__((visibility("default")))

// An NVML function. It returns uninitialized before initialisation.
#define INFLIGHT_NVML(name, params, ...)                                       \
  INFLIGHT_NVML_EXPORT int name params {                                       \
    return answer(#name, [&]() -> ::inflight::management::Return __VA_ARGS__); \
  }
// An NVML function with a parameter `handle`. In the body, `ordinal` is the number of that device.
#define INFLIGHT_NVML_DEVICE(name, params, ...)                          \
  INFLIGHT_NVML(name, params, {                                          \
    const std::optional<unsigned> found = ordinal_of(handle);            \
    if (!found) return ::inflight::management::Return::invalid_argument; \
    [[maybe_unused]] const unsigned ordinal = *found;                    \
    return [&]() -> ::inflight::management::Return __VA_ARGS__();        \
  })
