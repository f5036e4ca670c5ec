// What a stream capture forbids (CUDA guide, "Prohibited and Unhandled Operations").
#pragma once
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

class Device;
class Event;
class Stream;

// success if captures permit a call of this kind. Otherwise the captures that the call disturbs are
// invalidated, and the status is CUDA's.
Status unsafe_in_capture();                    // a synchronous call on a capturing stream
Status not_captured(const Stream& stream);     // work that no capture takes
Status allowed_in_capture();                   // potentially unsafe: cudaMalloc and relatives
Status allowed_now(const Stream& stream);      // work in the legacy stream during a capture
Status waitable(const Stream& stream);         // a query of a stream, or a wait for it
Status waitable(const Event& event);           // ... of an event
Status device_waitable(const Device& device);  // ... of a device

}  // namespace inflight::cuda
