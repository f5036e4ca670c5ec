// The signals that touches of closed pages raise.
#pragma once
#include <ucontext.h>

#include "gpu/cuda/core/watch/closing.hpp"
#include "gpu/cuda/core/watch/touch_log.hpp"

namespace inflight::cuda::watch {

// Fills in a touch that raised a signal. Can be called in its handler.
void note(Touch& touch, std::uint64_t address, const mcontext_t& machine);

// Handles touches until the process ends. False if the signal handlers cannot be installed.
bool catch_touches(Closing& closing, TouchLog& log);

}  // namespace inflight::cuda::watch
