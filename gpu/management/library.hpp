// How a call of NVML begins and ends: whether the library is initialised, which device a handle
// means, and what is said of what is not supported.
#pragma once
#include <optional>
#include <string_view>

#include "gpu/cuda/core/report/guard.hpp"
#include "gpu/management/abi.hpp"

namespace inflight::cuda {
class Device;
struct Profile;
}  // namespace inflight::cuda

namespace inflight::management {

// Initialisations are counted; the last shutdown ends them all.
void initialize();
Return shut_down();
bool initialized();

// The machine's devices as INFLIGHT_DEVICE and INFLIGHT_DEVICES tell them, whatever
// CUDA_VISIBLE_DEVICES says: CUDA itself need not be in use, nor does this begin its use, so that a
// program may fork after it.
const cuda::Profile& profile();
unsigned device_count();
Handle* handle_of(unsigned ordinal);
std::optional<unsigned> ordinal_of(const Handle* handle);
// The device once CUDA is in use in this process; null before, and where the process does not see
// it.
cuda::Device* in_use(unsigned ordinal);

// Writes `text` and a NUL where they fit into `bytes` (insufficient_size, invalid_argument).
Return store_text(std::string_view text, char* to, unsigned bytes);

template <class T>
Return store(T* to, T value) {
  if (!to) return Return::invalid_argument;
  *to = value;
  return Return::success;
}

Return of_exception(const char* name);

// A call's code: body()'s, or that of what it throws.
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

// A call that may be made before initialisation or after it.
#define INFLIGHT_NVML(name, params, ...)                                       \
  INFLIGHT_NVML_EXPORT int name params {                                       \
    return answer(#name, [&]() -> ::inflight::management::Return __VA_ARGS__); \
  }
// A call whose first parameter, `handle`, names the device number `ordinal`.
#define INFLIGHT_NVML_DEVICE(name, params, ...)                          \
  INFLIGHT_NVML(name, params, {                                          \
    const std::optional<unsigned> found = ordinal_of(handle);            \
    if (!found) return ::inflight::management::Return::invalid_argument; \
    [[maybe_unused]] const unsigned ordinal = *found;                    \
    return [&]() -> ::inflight::management::Return __VA_ARGS__();        \
  })
