// Kernel launches. Compiled twice: see entry.hpp.
#include "gpu/cuda/core/of_this_thread.hpp"
#include "gpu/cuda/core/stream/launch.hpp"
#include "gpu/cuda/core/stream/operations.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

namespace {

// What launch attributes ask for, beyond the configuration itself.
struct Wishes {
  inflight::machine::Dim3 cluster;
  bool cooperative = false, programmatic = false;
  int priority = 0;
  std::shared_ptr<Event> event;  // recorded once the kernel is done
};

Status take_event(const abi::LaunchAttribute& attribute, Wishes& wishes) {
  wishes.event = Core::get().events.find(attribute.value.event.event);
  return wishes.event ? Status::success : Status::invalid_handle;
}

Status take(const abi::LaunchAttribute& attribute, Wishes& wishes) {
  switch (attribute.id) {
    case abi::launch_cluster:
      wishes.cluster = {attribute.value.cluster.x, attribute.value.cluster.y,
                        attribute.value.cluster.z};
      return Status::success;
    case abi::launch_cooperative:
      wishes.cooperative = attribute.value.integer != 0;
      return Status::success;
    // A kernel that starts when its predecessor is done keeps every promise of these three.
    case abi::launch_programmatic_serialization:
      wishes.programmatic = attribute.value.integer != 0;
      return Status::success;
    case abi::launch_priority:
      wishes.priority = attribute.value.integer;
      return Status::success;
    case abi::launch_programmatic_event:
    case abi::launch_completion_event:
      return take_event(attribute, wishes);
    case abi::launch_device_updatable:
      if (!attribute.value.integer) return Status::success;
      say_once("device updatable", "kernel nodes that a device updates are not supported.");
      return Status::not_supported;
    default:  // hints about speed
      return attribute.id >= 0 && attribute.id <= abi::launch_nvlink ? Status::success
                                                                     : Status::invalid_value;
  }
}

inflight::machine::Dim3 dim3_of(const abi::Dim3& d) { return {d.x, d.y, d.z}; }

Status launch(Stream& stream, const void* function, const abi::Dim3& grid, const abi::Dim3& block,
              void** arguments, std::size_t dynamic_shared, const Wishes& wishes) {
  auto work = kernel_work(stream.device(), function, dim3_of(grid), dim3_of(block), arguments,
                          nullptr, dynamic_shared);
  if (!work) return tell(work);
  if (wishes.cluster != inflight::machine::Dim3{}) work->cluster = wishes.cluster;
  work->cooperative = wishes.cooperative;
  work->programmatic = wishes.programmatic;
  work->priority = wishes.priority;
  Status status = submit(stream, std::move(*work));
  if (status != Status::success || !wishes.event) return status;
  return record_event(stream, wishes.event, 0);
}

int launch_entry(const void* function, const abi::Dim3& grid, const abi::Dim3& block,
                 void** arguments, std::size_t dynamic_shared, void* stream, const Wishes& wishes,
                 const char* call = __builtin_FUNCTION()) {
  return on_stream(
      stream,
      [&](Stream& s) {
        return launch(s, function, grid, block, arguments, dynamic_shared, wishes);
      },
      call);
}

Status launch(const abi::LaunchConfig& config, const void* function, void** arguments,
              Stream& stream) {
  Wishes wishes;
  for (unsigned i = 0; i < config.attribute_count; ++i)
    if (Status status = take(config.attributes[i], wishes); status != Status::success)
      return status;
  return launch(stream, function, config.grid, config.block, arguments, config.dynamic_shared,
                wishes);
}

}  // namespace

INFLIGHT_API int INFLIGHT_STREAMED(cudaLaunchKernel)(const void* function, abi::Dim3 grid,
                                                     abi::Dim3 block, void** arguments,
                                                     std::size_t dynamic_shared, void* stream) {
  return launch_entry(function, grid, block, arguments, dynamic_shared, stream, {});
}

INFLIGHT_API int INFLIGHT_STREAMED(__cudaLaunchKernel)(void* kernel, abi::Dim3 grid,
                                                       abi::Dim3 block, void** arguments,
                                                       std::size_t dynamic_shared, void* stream) {
  return launch_entry(kernel, grid, block, arguments, dynamic_shared, stream, {});
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaLaunchCooperativeKernel)(const void* function,
                                                                abi::Dim3 grid, abi::Dim3 block,
                                                                void** arguments,
                                                                std::size_t dynamic_shared,
                                                                void* stream) {
  Wishes wishes;
  wishes.cooperative = true;
  return launch_entry(function, grid, block, arguments, dynamic_shared, stream, wishes);
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaLaunchKernelExC)(const abi::LaunchConfig* config,
                                                        const void* function, void** arguments) {
  if (!config || (config->attribute_count && !config->attributes))
    return query([] { return Status::invalid_value; });
  return on_stream(config->stream,
                   [&](Stream& s) { return launch(*config, function, arguments, s); });
}

#ifndef INFLIGHT_PER_THREAD

namespace inflight::cuda {

Result<KernelWork> kernel_work(Device& device, const void* function, const machine::Dim3& grid,
                               const machine::Dim3& block, void* const* arguments,
                               void* const* extra, std::size_t dynamic_shared) {
  auto found = function_of(function);
  if (!found) return tl::unexpected(found.error());
  auto kernel = (*found)->on(device.ordinal);
  if (!kernel) return tl::unexpected(kernel.error());
  if (dynamic_shared > UINT32_MAX) return fail(Status::invalid_value);
  auto packed = extra ? pack_extra(**kernel, extra) : pack(**kernel, arguments);
  if (!packed) return tl::unexpected(packed.error());
  KernelWork work;
  work.function = *found;
  work.device = device.ordinal;
  work.host = function;
  work.grid = grid;
  work.block = block;
  work.cluster = cluster_of(**kernel, {});
  work.dynamic_shared = std::uint32_t(dynamic_shared);
  work.parameters = std::move(*packed);
  return work;
}

}  // namespace inflight::cuda

namespace {

// Between `<<<` and the kernel's stub.
struct Configuration {
  abi::Dim3 grid, block;
  std::size_t dynamic_shared;
  void* stream;
};
struct Configurations {
  std::vector<Configuration> stack;
};
std::vector<Configuration>& configurations() { return of_this_thread<Configurations>().stack; }

}  // namespace

INFLIGHT_API unsigned __cudaPushCallConfiguration(abi::Dim3 grid, abi::Dim3 block,
                                                  std::size_t dynamic_shared, void* stream) {
  return unsigned(record(guarded("the configuration of a launch", [&] {
    configurations().push_back({grid, block, dynamic_shared, stream});
    return Status::success;
  })));
}

INFLIGHT_API int __cudaPopCallConfiguration(abi::Dim3* grid, abi::Dim3* block,
                                            std::size_t* dynamic_shared, void* stream) {
  std::vector<Configuration>& stack = configurations();
  if (stack.empty()) return int(Status::invalid_configuration);
  const Configuration top = stack.back();
  stack.pop_back();
  *grid = top.grid;
  *block = top.block;
  *dynamic_shared = top.dynamic_shared;
  *static_cast<void**>(stream) = top.stream;
  return 0;
}

#endif
