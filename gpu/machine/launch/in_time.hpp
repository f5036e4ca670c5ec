// Preparation of a launch's code within the time that --timeout gives it.
#pragma once
#include <chrono>

#include "gpu/check/listener.hpp"
#include "gpu/machine/config/launch.hpp"
#include "gpu/machine/report/outcome.hpp"

namespace inflight::machine {

// Decodes the kernel and what it calls, in the form that this launch with this listener (null:
// none) runs. A time-out of 0 is none, and then nothing is done.
Outcome prepare_in_time(const Launch& launch, const check::Listener* listener,
                        std::chrono::milliseconds timeout);

}  // namespace inflight::machine
