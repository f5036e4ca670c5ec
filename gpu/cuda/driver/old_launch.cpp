// Driver API: the launch calls from before CUDA 4. A program sets a function's block shape, shared
// memory and parameters by separate calls.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "gpu/bytes/range.hpp"
#include "gpu/cuda/core/calls/launch.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

// The settings made by these calls, kept for each function.
struct LaunchState {
  abi::Dim3 block{1, 1, 1};
  unsigned dynamic_shared = 0;
  std::vector<std::byte> parameters = {};
  std::size_t parameter_bytes = 0;
};

// By weak pointer, so that a new function at an old one's address does not get its settings.
std::mutex states_mutex;
std::map<std::weak_ptr<Function>, LaunchState, std::owner_less<>> states;

template <class Body>
Status with_state(Handle handle, Body&& body) {
  const auto function = Core::get().functions.find(handle);
  if (!function) return Status::invalid_handle;
  const std::lock_guard lock(states_mutex);
  std::erase_if(states, [](const auto& each) { return each.first.expired(); });
  return body(states[function]);
}

// The largest size of a kernel's parameters (CUDA guide).
constexpr std::size_t most_parameter_bytes = 32764;

Status set_parameter(Handle function, int offset, const void* from, std::size_t bytes) {
  return with_state(function, [&](LaunchState& state) {
    const auto place = ByteRange::of(std::uint64_t(offset), bytes);
    if (offset < 0 || !from || !place || place->end() > most_parameter_bytes)
      return Status::invalid_value;
    state.parameters.resize(std::max(state.parameters.size(), place->end()));
    std::copy_n(static_cast<const std::byte*>(from), bytes, state.parameters.begin() + offset);
    return Status::success;
  });
}

Status launch_grid(Handle function, int width, int height, Handle stream) {
  if (width < 1 || height < 1) return Status::invalid_value;
  LaunchState now;
  const Status status = with_state(function, [&](LaunchState& state) {
    now = state;
    return Status::success;
  });
  if (status != Status::success) return status;
  now.parameters.resize(now.parameter_bytes);
  constexpr std::uintptr_t end = 0, buffer_pointer = 1, buffer_size = 2;
  void* extra[] = {reinterpret_cast<void*>(buffer_pointer), now.parameters.data(),
                   reinterpret_cast<void*>(buffer_size), &now.parameter_bytes,
                   reinterpret_cast<void*>(end)};
  return with_stream(stream, false, [&](Stream& s) {
    const abi::LaunchConfig config{
        {unsigned(width), unsigned(height), 1}, now.block, now.dynamic_shared, stream, nullptr, 0};
    return launch(s, config, function, nullptr, extra);
  });
}

}  // namespace

INFLIGHT_CU_AT(of_function(function), cuFuncSetBlockShape, (Handle function, int x, int y, int z), {
  return with_state(function, [&](LaunchState& state) {
    if (x < 1 || y < 1 || z < 1) return Status::invalid_value;
    state.block = {unsigned(x), unsigned(y), unsigned(z)};
    return Status::success;
  });
})
INFLIGHT_CU_AT(of_function(function), cuFuncSetSharedSize, (Handle function, unsigned bytes), {
  return with_state(function, [&](LaunchState& state) {
    state.dynamic_shared = bytes;
    return Status::success;
  });
})
INFLIGHT_CU_AT(of_function(function), cuParamSetSize, (Handle function, unsigned bytes), {
  return with_state(function, [&](LaunchState& state) {
    if (bytes > most_parameter_bytes) return Status::invalid_value;
    state.parameter_bytes = bytes;
    return Status::success;
  });
})
INFLIGHT_CU_AT(of_function(function), cuParamSeti, (Handle function, int offset, unsigned value),
               { return set_parameter(function, offset, &value, sizeof value); })
INFLIGHT_CU_AT(of_function(function), cuParamSetf, (Handle function, int offset, float value),
               { return set_parameter(function, offset, &value, sizeof value); })
INFLIGHT_CU_AT(of_function(function), cuParamSetv,
               (Handle function, int offset, const void* from, unsigned bytes),
               { return set_parameter(function, offset, from, bytes); })
// Without a stream, launches use the current context's default stream.
INFLIGHT_CU(cuLaunch, (Handle function), { return launch_grid(function, 1, 1, nullptr); })
INFLIGHT_CU(cuLaunchGrid, (Handle function, int width, int height),
            { return launch_grid(function, width, height, nullptr); })
INFLIGHT_CU_AT(of_stream(stream), cuLaunchGridAsync,
               (Handle function, int width, int height, Handle stream),
               { return launch_grid(function, width, height, stream); })

}  // namespace inflight::cuda::driver
