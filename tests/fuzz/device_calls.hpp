// Kernels that call CUDA's device runtime: copies, fills, launches, streams, events, and changes of
// graph nodes.
#pragma once
#include <string>

#include "tests/fuzz/guarded_device.hpp"

namespace inflight::fuzz {

// A module with the kernel `k`, whose threads make a few calls with arguments at the edges of what
// is valid, perhaps many times. Handles that calls give are kept in `large`.
std::string kernel_of_calls(Choices& choices, const GuardedDevice& device);

}  // namespace inflight::fuzz
