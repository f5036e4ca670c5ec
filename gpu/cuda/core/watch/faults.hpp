// Touches of closed pages, by the signals that they raise.
#pragma once
#include "gpu/cuda/core/watch/closing.hpp"
#include "gpu/cuda/core/watch/touch_log.hpp"

namespace inflight::cuda::watch {

// From now on, for the life of the process. False if signals cannot be had.
bool catch_touches(Closing& closing, TouchLog& log);

}  // namespace inflight::cuda::watch
