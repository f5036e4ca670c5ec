// Handles the signals that touches of closed pages raise.
#pragma once
#include "gpu/cuda/core/watch/closing.hpp"
#include "gpu/cuda/core/watch/touch_log.hpp"

namespace inflight::cuda::watch {

// Logs touches and opens pages from now on, until the process ends. False if the handlers cannot be
// installed.
bool catch_touches(Closing& closing, TouchLog& log);

}  // namespace inflight::cuda::watch
