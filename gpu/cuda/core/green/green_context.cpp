// Green contexts, and events that whole contexts record or wait for.
#include "gpu/cuda/core/green/green_context.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "gpu/cuda/core/core.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/retired.hpp"
#include "gpu/cuda/core/stream/operations.hpp"

namespace inflight::cuda {
namespace {

Handles<GreenContext>& green_contexts() {
  static auto& instance = *new Handles<GreenContext>;
  return instance;
}
// Whether threads' stacks, streams or others name its context, beside the two that it has itself.
bool is_named(const GreenContext& green) {
  return green.context.use_count() > 2 || green.null_stream.use_count() > 1;
}
// Destroyed green contexts.
Retired<GreenContext>& retired() {
  static auto& instance = *new Retired<GreenContext>(is_named);
  return instance;
}

// Descriptions, which CUDA never destroys. Those of the same multiprocessors are one.
class Descriptions {
 public:
  static Descriptions& of_all() {
    static auto& instance = *new Descriptions;
    return instance;
  }
  const void* add(std::shared_ptr<Partition> made) {
    const std::lock_guard lock(mutex_);
    auto& same = known_[{made->device, made->resource.set, made->resource.together}];
    if (!same) same = handles_.add(std::move(made));
    return same;
  }
  std::shared_ptr<Partition> find(const void* handle) const { return handles_.find(handle); }

 private:
  std::mutex mutex_;
  std::map<std::tuple<Device*, decltype(DevResource::set), std::uint32_t>, const void*> known_;
  Handles<Partition> handles_;
};

std::shared_ptr<Context> new_context(Device& device) {
  auto made = std::make_shared<Context>();
  made->device = &device;
  return made;
}

bool belongs(const Stream& stream, const Context& context) {
  return context.primary || stream.context == &context;
}

// The events that later streams of a context wait for.
class Awaited {
 public:
  using Events = std::vector<std::shared_ptr<Event>>;
  static Awaited& of_all() {
    static auto& instance = *new Awaited;
    return instance;
  }
  Events of(const Context& context) const {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(&context);
    return found == events_.end() ? Events() : found->second;
  }
  // `event` comes after all of `before`, and takes their place.
  void replace(const Context& context, const Events& before, std::shared_ptr<Event> event) {
    const std::lock_guard lock(mutex_);
    Events& events = events_[&context];
    std::erase_if(
        events, [&](const auto& each) { return std::ranges::find(before, each) != before.end(); });
    events.push_back(std::move(event));
  }
  void forget(const Context& context) {
    const std::lock_guard lock(mutex_);
    events_.erase(&context);
  }
  void let_wait(Stream& stream) const {
    Events all;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [context, events] : events_)
        if (context->device == &stream.device() && belongs(stream, *context))
          all.insert(all.end(), events.begin(), events.end());
    }
    for (const auto& event : all) wait_event(stream, event, 0);
  }

 private:
  mutable std::mutex mutex_;
  std::map<const Context*, Events> events_;
};

std::shared_ptr<Event> hidden_event(Device& device) {
  return std::make_shared<Event>(device, false, false);
}

// An internal stream, which has no handle for programs.
std::shared_ptr<Stream> passing_stream(Device& device) {
  const ScopedContext none(&Core::get().primary(device.ordinal));
  auto made = device.create_stream(true, 0);
  observe_edge(check::StreamEdge::Kind::created, *made, 0);
  return {made.get(),
          [made](Stream* stream) { observe_edge(check::StreamEdge::Kind::destroyed, *stream, 0); }};
}

// All streams of the context. Fails if one of them captures.
Result<std::vector<std::shared_ptr<Stream>>> free_streams(const Context& context) {
  auto streams = streams_of(context);
  for (const auto& each : streams)
    if (Status status = waitable(*each); status != Status::success) return fail(status);
  return streams;
}

}  // namespace

GreenContext::GreenContext(std::shared_ptr<const Partition> of)
    : partition(std::move(of)),
      context(new_context(*partition->device)),
      null_stream(partition->device->create_null_stream(*context)) {
  context->green = this;
}

Status create_green_context(void** place, const void* description, int device, unsigned flags) {
  constexpr unsigned default_stream = 1;  // CUgreenCtxCreate_flags
  const auto partition = Descriptions::of_all().find(description);
  if (!place || !partition || flags != default_stream) return Status::invalid_value;
  if (!device_exists(device)) return Status::invalid_device;
  if (partition->device->ordinal != device) return Status::invalid_value;
  retain_primary(Core::get().primary(device));
  auto made = std::make_shared<GreenContext>(partition);
  Core::get().contexts.add(made->context);
  *place = green_contexts().add(std::move(made));
  return Status::success;
}

Status destroy_green_context(const void* handle) {
  if (retired().contains(handle)) return Status::context_is_destroyed;
  auto found = green_contexts().remove(handle);
  if (!found) return Status::invalid_context;
  found->null_stream->synchronize();
  Core::get().contexts.remove(found->context.get());
  found->context->destroyed = true;
  forget_context(*found->context);
  const int device = found->partition->device->ordinal;
  retired().add(std::move(found));
  return release_primary(Core::get().primary(device));
}

Result<std::shared_ptr<GreenContext>> green_context_of(const void* handle) {
  auto found = green_contexts().find(handle);
  if (!found) return fail(Status::invalid_context);
  return found;
}

Status create_green_stream(void** place, GreenContext& in, unsigned flags, int priority) {
  constexpr unsigned non_blocking = 1;
  if (flags != non_blocking) return Status::invalid_value;
  const ScopedContext scope(in.context.get());
  return create_stream(place, flags, priority);
}

Status create_description(void** place, const DevResource* resources, unsigned count) {
  if (!place) return Status::invalid_value;
  auto made = describe_resources(resources, count);
  if (!made) return made.error().status;
  *place = const_cast<void*>(Descriptions::of_all().add(std::move(*made)));
  return Status::success;
}

std::shared_ptr<const Partition> partition_of(const Context* context) {
  return context && context->green ? context->green->partition : nullptr;
}

std::shared_ptr<const Partition> partition_of(const Stream& stream) {
  return partition_of(stream.context);
}

const machine::Limits& limits_of(const Partition* partition, const Device& device) {
  return partition ? partition->limits : device.machine_limits;
}

std::vector<std::shared_ptr<Stream>> streams_of(const Context& context) {
  auto streams = context.device->streams();
  std::erase_if(streams, [&](const auto& each) { return !belongs(*each, context); });
  return streams;
}

Status record_event(const Context& context, const void* handle) {
  auto event = event_of(handle);
  if (!event) return event.error().status;
  if (&(*event)->device() != context.device) return Status::invalid_handle;
  auto streams = free_streams(context);
  if (!streams) return streams.error().status;
  const auto all = passing_stream(*context.device);
  for (const auto& each : *streams) {
    if (each->last().number == 0) continue;
    const auto done = hidden_event(*context.device);
    if (Status status = record_event(*each, done, 0); status != Status::success) return status;
    if (Status status = wait_event(*all, done, 0); status != Status::success) return status;
  }
  return record_event(*all, *event, 0);
}

Status wait_event(Context& context, const void* handle) {
  auto event = event_of(handle);
  if (!event) return event.error().status;
  if (Status status = waitable(**event); status != Status::success) return status;
  auto streams = free_streams(context);
  if (!streams) return streams.error().status;
  const auto later = passing_stream(*context.device);
  const auto done = hidden_event(*context.device);
  streams->push_back(later);
  const Awaited::Events before = Awaited::of_all().of(context);
  for (const auto& each : before)
    if (Status status = wait_event(*later, each, 0); status != Status::success) return status;
  for (const auto& each : *streams)
    if (Status status = wait_event(*each, *event, 0); status != Status::success) return status;
  if (Status status = record_event(*later, done, 0); status != Status::success) return status;
  Awaited::of_all().replace(context, before, done);
  return Status::success;
}

void forget_context(const Context& context) { Awaited::of_all().forget(context); }

void join_context(Stream& stream) { Awaited::of_all().let_wait(stream); }

}  // namespace inflight::cuda
