// Each context's events, and the streams that they hold back.
#include "gpu/cuda/core/queue/awaited.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/queue/event.hpp"

namespace inflight::cuda {
namespace {

struct Awaited {
  std::mutex mutex;
  std::map<const Context*, AwaitedEvents> events;
};
Awaited& awaited() {
  static auto& instance = *new Awaited;
  return instance;
}

}  // namespace

bool belongs(const Stream& stream, const Context& context) {
  return context.primary || stream.context == &context;
}

AwaitedEvents awaited_events(const Context& context) {
  const std::lock_guard lock(awaited().mutex);
  const auto found = awaited().events.find(&context);
  return found == awaited().events.end() ? AwaitedEvents() : found->second;
}

void replace_awaited(const Context& context, const AwaitedEvents& before,
                     std::shared_ptr<Event> event) {
  const std::lock_guard lock(awaited().mutex);
  AwaitedEvents& events = awaited().events[&context];
  std::erase_if(events,
                [&](const auto& each) { return std::ranges::find(before, each) != before.end(); });
  events.push_back(std::move(event));
}

void forget_context(const Context& context) {
  const std::lock_guard lock(awaited().mutex);
  awaited().events.erase(&context);
}

void join_context(Stream& stream) {
  AwaitedEvents all;
  {
    const std::lock_guard lock(awaited().mutex);
    for (const auto& [context, events] : awaited().events)
      if (context->device == &stream.device() && belongs(stream, *context))
        all.insert(all.end(), events.begin(), events.end());
  }
  for (const auto& event : all) wait_for_latest(stream, *event);
}

}  // namespace inflight::cuda
