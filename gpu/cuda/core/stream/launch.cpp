// Kernel launches: arguments into the parameter buffer, and what CUDA checks at the call.
#include "gpu/cuda/core/stream/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "gpu/check/names.hpp"
#include "gpu/cuda/core/kernels.hpp"
#include "gpu/cuda/core/profiles.hpp"
#include "gpu/cuda/core/stream/operations.hpp"

namespace inflight::cuda {
namespace {

constexpr std::uint32_t max_grid_x = 0x7fffffff, max_grid_yz = 65535;
constexpr std::uint32_t max_block_xy = 1024, max_block_z = 64;

bool any_zero(const machine::Dim3& d) { return d.x == 0 || d.y == 0 || d.z == 0; }

bool grid_fits(const machine::Dim3& grid) {
  return grid.x <= max_grid_x && grid.y <= max_grid_yz && grid.z <= max_grid_yz;
}

bool block_fits(const machine::Dim3& block, const machine::Kernel& kernel,
                const machine::Limits& limits) {
  if (any_zero(block) || block.x > max_block_xy || block.y > max_block_xy || block.z > max_block_z)
    return false;
  const auto& required = kernel.required_block;
  if (required[0] && (block.x != required[0] || block.y != required[1] || block.z != required[2]))
    return false;
  return block.count() <= std::min(kernel.max_threads, limits.max_threads_per_block);
}

Status check_cluster(const KernelWork& work, const machine::Kernel& kernel, const Device& device) {
  const machine::Dim3& cluster = work.cluster;
  if (cluster.count() == 1) return Status::success;
  const std::uint64_t most = largest_cluster(*work.function, device);
  const bool divides = !any_zero(cluster) && work.grid.x % cluster.x == 0 &&
                       work.grid.y % cluster.y == 0 && work.grid.z % cluster.z == 0;
  const bool known = device.profile.architecture.number >= first_with_clusters;
  const auto& required = kernel.required_cluster;
  const bool agrees =
      required[0] == 0 || cluster == machine::Dim3{required[0], required[1], required[2]};
  return known && divides && agrees && cluster.count() <= most ? Status::success
                                                               : Status::invalid_cluster_size;
}

Status check_runnable(const Function& function, const machine::Kernel& kernel) {
  auto missing = function.missing(&kernel);
  if (missing.empty()) return Status::success;
  std::string list;
  for (const std::string& each : missing) list += "\n  " + each;
  report_once("kernel " + function.name,
              "kernel " + check::readable(function.name) +
                  " was not launched, because it needs what this software " +
                  "GPU does not support:" + list);
  return Status::not_supported;
}

// ptxas mostly needs fewer registers than are live at once in PTX. Beyond this excess, a kernel
// without launch bounds rarely fits (docs/performance.md, "Registers").
constexpr std::uint32_t doubtful_percent = 140;

void warn_of_registers(const KernelWork& work, const machine::Kernel& kernel,
                       const Device& device) {
  const auto threads = std::uint32_t(work.block.count());
  const machine::RegisterNeed need = machine::register_need(kernel, threads, device.machine_limits);
  if (need.live * 100 <= need.room * doubtful_percent) return;
  report_once(
      "registers of " + work.function->name,
      fmt::format("kernel {} may be refused in blocks of {} threads by a GPU (error 701, too "
                  "many resources requested for launch): {} registers of a thread live at "
                  "once, and such a block has room for {}; give it __launch_bounds__({}), or "
                  "launch smaller blocks.",
                  machine::source_name(kernel), threads, need.live, need.room, threads));
}

bool fits_cooperatively(const KernelWork& work, const machine::Kernel& kernel,
                        const Device& device) {
  const std::uint64_t resident =
      machine::resident_clusters(kernel, work.cluster, std::uint32_t(work.block.count()),
                                 work.dynamic_shared, device.machine_limits);
  return work.grid.count() <= resident * work.cluster.count();
}

}  // namespace

machine::Dim3 cluster_of(const machine::Kernel& kernel, const machine::Dim3& requested) {
  const auto& required = kernel.required_cluster;
  return required[0] ? machine::Dim3{required[0], required[1], required[2]} : requested;
}

std::uint64_t largest_cluster(const Function& function, const Device& device) {
  constexpr std::uint64_t portable = 8, largest = 16;
  return function.settings(device.ordinal).non_portable_cluster ? largest : portable;
}

std::uint32_t dynamic_shared_limit(const Function& function, const machine::Kernel& kernel,
                                   const Device& device) {
  const std::uint32_t base = device.machine_limits.shared_per_block;
  const std::uint32_t standard = base > kernel.static_shared ? base - kernel.static_shared : 0;
  const int chosen = function.settings(device.ordinal).max_dynamic_shared;
  return std::max(standard, std::uint32_t(std::max(chosen, 0)));
}

Status check_launch(const KernelWork& work, Device& device) {
  const bool empty = work.function && any_zero(work.grid);
  return empty ? Status::invalid_value : check_node(work, device);
}

Status check_node(const KernelWork& work, Device& device) {
  if (!work.function) return Status::invalid_device_function;
  auto found = work.function->on(device.ordinal);
  if (!found) return report(found);
  const machine::Kernel& kernel = **found;
  if (!grid_fits(work.grid) || !block_fits(work.block, kernel, device.machine_limits))
    return Status::invalid_value;
  if (work.dynamic_shared > dynamic_shared_limit(*work.function, kernel, device))
    return Status::invalid_value;
  if (Status status = check_cluster(work, kernel, device); status != Status::success) return status;
  warn_of_registers(work, kernel, device);
  if (work.cooperative && !fits_cooperatively(work, kernel, device))
    return Status::cooperative_launch_too_large;
  return check_runnable(*work.function, kernel);
}

Result<std::vector<std::byte>> pack(const machine::Kernel& kernel, void* const* arguments) {
  std::vector<std::byte> buffer(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (!arguments || !arguments[i]) return fail(Status::invalid_value);
    const machine::Parameter& parameter = kernel.parameters[i];
    std::memcpy(buffer.data() + parameter.offset, arguments[i], parameter.size);
  }
  return buffer;
}

Result<std::vector<std::byte>> pack(const machine::Kernel& kernel, const void* packed,
                                    std::uint64_t bytes) {
  if (!packed && bytes) return fail(Status::invalid_value);
  std::vector<std::byte> buffer(kernel.parameter_bytes);
  std::uint64_t needed = 0;
  for (const machine::Parameter& parameter : kernel.parameters)
    needed = std::max<std::uint64_t>(needed, parameter.offset + parameter.size);
  if (bytes < needed) return fail(Status::invalid_value);
  std::memcpy(buffer.data(), packed, std::min<std::uint64_t>(bytes, buffer.size()));
  return buffer;
}

Result<std::vector<std::byte>> pack_extra(const machine::Kernel& kernel, void* const* extra) {
  // CUDA driver API, cuLaunchKernel: pairs of a code and a pointer, ended by code 0.
  constexpr std::uintptr_t end = 0, buffer_pointer = 1, buffer_size = 2;
  const void* buffer = nullptr;
  std::uint64_t bytes = 0;
  for (; extra && reinterpret_cast<std::uintptr_t>(*extra) != end; extra += 2) {
    const auto code = reinterpret_cast<std::uintptr_t>(*extra);
    if (code == buffer_pointer)
      buffer = extra[1];
    else if (code == buffer_size)
      bytes = *static_cast<const std::size_t*>(extra[1]);
    else
      return fail(Status::invalid_value);
  }
  return pack(kernel, buffer, bytes);
}

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

namespace {

// What launch attributes set, beyond the configuration itself.
struct LaunchOptions {
  machine::Dim3 cluster;
  bool cooperative = false, programmatic = false;
  int priority = 0;
  std::shared_ptr<Event> event;  // recorded once the kernel is done
};

Status set_event(const abi::LaunchAttribute& attribute, LaunchOptions& options) {
  options.event = Core::get().events.find(attribute.value.event.event);
  return options.event ? Status::success : Status::invalid_handle;
}

Status set_option(const abi::LaunchAttribute& attribute, LaunchOptions& options) {
  switch (attribute.id) {
    case abi::launch_cluster:
      options.cluster = {attribute.value.cluster.x, attribute.value.cluster.y,
                         attribute.value.cluster.z};
      return Status::success;
    case abi::launch_cooperative:
      options.cooperative = attribute.value.integer != 0;
      return Status::success;
    // A kernel that starts when its predecessor is done keeps every promise of these three.
    case abi::launch_programmatic_serialization:
      options.programmatic = attribute.value.integer != 0;
      return Status::success;
    case abi::launch_priority:
      options.priority = attribute.value.integer;
      return Status::success;
    case abi::launch_programmatic_event:
    case abi::launch_completion_event:
      return set_event(attribute, options);
    case abi::launch_device_updatable:
      if (!attribute.value.integer) return Status::success;
      report_once("device updatable", "kernel nodes that a device updates are not supported.");
      return Status::not_supported;
    default:  // hints about speed
      return attribute.id >= 0 && attribute.id <= abi::launch_nvlink ? Status::success
                                                                     : Status::invalid_value;
  }
}

machine::Dim3 dim3_of(const abi::Dim3& d) { return {d.x, d.y, d.z}; }

}  // namespace

Status launch(Stream& stream, const abi::LaunchConfig& config, const void* function,
              void* const* arguments, void* const* extra) {
  LaunchOptions options;
  for (unsigned i = 0; i < config.attribute_count; ++i)
    if (Status status = set_option(config.attributes[i], options); status != Status::success)
      return status;
  auto work = kernel_work(stream.device(), function, dim3_of(config.grid), dim3_of(config.block),
                          arguments, extra, config.dynamic_shared);
  if (!work) return report(work);
  if (options.cluster != machine::Dim3{}) work->cluster = options.cluster;
  work->cooperative = options.cooperative;
  work->programmatic = options.programmatic;
  work->priority = options.priority;
  Status status = submit(stream, std::move(*work));
  if (status != Status::success || !options.event) return status;
  return record_event(stream, options.event, 0);
}

}  // namespace inflight::cuda
