// Green contexts and their descriptions.
#include "gpu/cuda/core/green/green_context.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "gpu/cuda/core/base/retired.hpp"
#include "gpu/cuda/core/queue/awaited.hpp"
#include "gpu/cuda/core/queue/core.hpp"

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

}  // namespace

GreenContext::GreenContext(std::shared_ptr<const Partition> of)
    : partition(std::move(of)),
      context(new_context(*partition->device)),
      null_stream(partition->device->create_null_stream(*context)) {
  context->green = this;
  context->null_stream = null_stream.get();
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

}  // namespace inflight::cuda
