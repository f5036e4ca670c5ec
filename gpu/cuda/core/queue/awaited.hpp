// The events that later streams of a context wait for.
#pragma once
#include <memory>
#include <vector>

#include "gpu/cuda/core/queue/context.hpp"

namespace inflight::cuda {

class Event;
class Stream;

// True for a stream of the context. A primary context's streams include those of its device's green
// contexts.
bool belongs(const Stream& stream, const Context& context);

using AwaitedEvents = std::vector<std::shared_ptr<Event>>;
AwaitedEvents awaited_events(const Context& context);
// `event` comes after all of `before`, and takes their place.
void replace_awaited(const Context& context, const AwaitedEvents& before,
                     std::shared_ptr<Event> event);

// The context has been destroyed: no stream of it comes any more.
void forget_context(const Context& context);
// Makes a new stream wait for the events that its context waits for.
void join_context(Stream& stream);

}  // namespace inflight::cuda
