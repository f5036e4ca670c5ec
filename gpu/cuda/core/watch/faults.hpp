// The signals that touches of closed pages raise.
#pragma once
#include "gpu/cuda/core/watch/closing.hpp"
#include "gpu/cuda/core/watch/touch_log.hpp"

namespace inflight::cuda::watch {

// Handles touches until the process ends. False if the signal handlers cannot be installed.
bool catch_touches(Closing& closing, TouchLog& log);

}  // namespace inflight::cuda::watch
