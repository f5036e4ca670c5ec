// What the attributes of a launch mean.
#include "gpu/cuda/core/calls/launch.hpp"

#include <fmt/format.h>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/queue/edges.hpp"
#include "gpu/cuda/core/queue/event.hpp"
#include "gpu/cuda/core/queue/inner_recording.hpp"
#include "gpu/cuda/core/report/call.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/work/graph_kernels.hpp"

namespace inflight::cuda {
namespace {

// The settings that launch attributes add to the configuration.
struct LaunchOptions {
  machine::Dim3 cluster;
  bool cooperative = false, programmatic = false;
  int priority = 0;
  std::shared_ptr<Event> event;  // recorded once the kernel is done, or
  bool event_at_begin = false;   // once all its blocks have begun
  EdgeKind event_edge;           // while the stream captures
  std::shared_ptr<UpdatableNode> updatable;
};

// The status of a launch that records an event, as on an H200
// (tests/kernels/launch_event_rules.cu).
Status allowed_event(int flags, const Event* event, bool captured) {
  constexpr int external = 1;  // cudaEventRecordExternal
  if ((flags & ~external) != 0) return Status::invalid_value;
  if (!event) return Status::invalid_handle;
  if (flags == external) return captured ? Status::not_supported : Status::illegal_state;
  if (event->shared && captured) return Status::capture_unsupported;
  return event->shared || event->timing ? Status::not_supported : Status::success;
}

Status set_event(const abi::LaunchAttribute& attribute, bool captured, LaunchOptions& options) {
  const auto& asked = attribute.value.event;
  options.event = Core::get().events.find(asked.event);
  options.event_at_begin = attribute.id == abi::launch_completion_event;
  options.event_edge = options.event_at_begin         ? begin_edge
                       : asked.trigger_at_block_start ? programmatic_begin_edge
                                                      : programmatic_edge;
  return allowed_event(asked.flags, options.event.get(), captured);
}

// Stores the handle by which kernels name the node in the attribute.
Status set_updatable(abi::LaunchAttribute& attribute, LaunchOptions& options) {
  if (!attribute.value.updatable.asked) return Status::success;
  options.updatable = UpdatableNode::make();
  attribute.value.updatable.node = pointer_to(options.updatable->handle());
  return Status::success;
}

Status set_option(abi::LaunchAttribute& attribute, bool captured, LaunchOptions& options) {
  switch (attribute.id) {
    case abi::launch_cluster:
      options.cluster = {attribute.value.cluster.x, attribute.value.cluster.y,
                         attribute.value.cluster.z};
      return Status::success;
    case abi::launch_cooperative:
      options.cooperative = attribute.value.integer != 0;
      return Status::success;
    case abi::launch_programmatic_serialization:
      options.programmatic = attribute.value.integer != 0;
      return Status::success;
    case abi::launch_priority:
      options.priority = attribute.value.integer;
      return Status::success;
    case abi::launch_programmatic_event:
    case abi::launch_completion_event:
      return set_event(attribute, captured, options);
    case abi::launch_device_updatable:
      return set_updatable(attribute, options);
    default:  // performance hints
      return attribute.id >= 0 && attribute.id <= abi::launch_nvlink ? Status::success
                                                                     : Status::invalid_value;
  }
}

// For listeners, a wait for the event is ordered after everything before the kernel. If that
// may be more than the last work of its stream, an empty piece of work joins it all.
Ticket in_front_of(Stream& stream, bool programmatic) {
  const Ticket last = stream.last();
  if (!observes(check::Topic::host) || (programmatic && last.number != 0)) return last;
  return stream.submit([] {});
}

Status launch_recording_begin(Stream& stream, KernelWork work, Event& event) {
  if (&event.device() != &stream.device()) return Status::invalid_handle;
  const auto begin = std::make_shared<InnerRecording>(in_front_of(stream, work.programmatic));
  const auto recording = begin->recording();
  work.at_begin = begin;
  if (Status status = submit(stream, std::move(work)); status != Status::success) return status;
  forget_capture(event);
  event.record(recording);
  observe_edge(check::StreamEdge::Kind::event_record, stream, recording->ticket.number,
               address_of(&event));
  return Status::success;
}

Status launch_now(Stream& stream, const abi::LaunchConfig& config, const void* function,
                  void* const* arguments, void* const* extra) {
  const bool captured = capturing(stream);
  LaunchOptions options;
  for (unsigned i = 0; i < config.attribute_count; ++i)
    if (Status status = set_option(config.attributes[i], captured, options);
        status != Status::success)
      return status;
  if (options.updatable && !captured) return Status::invalid_value;
  auto work = kernel_work(stream.device(), function, dim3_of(config.grid), dim3_of(config.block),
                          arguments, extra, config.dynamic_shared);
  if (!work) return report(work);
  if (options.cluster != machine::Dim3{}) work->cluster = options.cluster;
  work->cooperative = options.cooperative;
  work->programmatic = options.programmatic;
  work->priority = options.priority;
  if (!captured) work->textures = Core::get().texture_objects.snapshot();
  work->updatable = options.updatable;
  if (options.event_at_begin && !captured)
    return launch_recording_begin(stream, std::move(*work), *options.event);
  Status status = submit(stream, std::move(*work));
  if (status != Status::success || !options.event) return status;
  if (captured)
    if (const auto recorded = capture_record(stream, *options.event, options.event_edge))
      return *recorded;
  return record_event(stream, options.event, 0);
}

}  // namespace

Status launch(Stream& stream, const abi::LaunchConfig& config, const void* function,
              void* const* arguments, void* const* extra) {
  Call::hold();
  const Status status = launch_now(stream, config, function, arguments, extra);
  if (status != Status::success) {
    const abi::Dim3 &g = config.grid, &b = config.block;
    Call::with(fmt::format("grid {}x{}x{}, block {}x{}x{}, {} bytes of dynamic shared memory", g.x,
                           g.y, g.z, b.x, b.y, b.z, config.dynamic_shared));
  }
  return status;
}

}  // namespace inflight::cuda
