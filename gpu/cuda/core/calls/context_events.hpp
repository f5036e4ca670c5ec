// Events that whole contexts record or wait for, and streams of green contexts.
#pragma once
#include "gpu/cuda/core/green/green_context.hpp"

namespace inflight::cuda {

Status create_green_stream(void** place, GreenContext& in, unsigned flags, int priority);

// Record after all work that the context has, or make all its later work wait (capture_unsupported:
// one of its streams captures).
Status record_event(const Context& context, const void* event);
Status wait_event(Context& context, const void* event);

}  // namespace inflight::cuda
