// Lookup of kernels, their attributes, and occupancy.
#include "gpu/cuda/core/work/kernels.hpp"

#include <algorithm>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/green/green_context.hpp"
#include "gpu/cuda/core/modules/registry.hpp"
#include "gpu/cuda/core/work/launch.hpp"
#include "gpu/machine/launch/occupancy.hpp"

namespace inflight::cuda {
namespace {

struct OnDevice {
  Function& function;
  const machine::Kernel& kernel;
  Device& device;
};

// Runs body(OnDevice) with the kernel on `device`, loading it first if needed.
template <class Body>
Status with_kernel(const void* handle, Device& device, Body body) {
  auto function = function_of(handle);
  if (!function) return function.error().status;
  auto kernel = (*function)->on(device.ordinal);
  return kernel ? body(OnDevice{**function, **kernel, device}) : report(kernel);
}
template <class Body>
Status with_kernel(const void* handle, Body body) {
  return with_kernel(handle, current_device(), body);
}

// cudaFuncAttribute.
enum FunctionAttribute {
  max_dynamic_shared = 8,
  carveout = 9,
  cluster_must_be_set = 10,
  cluster_width = 11,
  cluster_depth = 13,
  non_portable_cluster = 14,
  cluster_policy = 15,
};

Status set_shared(const OnDevice& k, int value) {
  const std::uint64_t most = k.device.machine_limits.shared_per_block_optin;
  if (value < 0 || std::uint64_t(value) + k.kernel.static_shared > most)
    return Status::invalid_value;
  k.function.change(k.device.ordinal, [&](FunctionSettings& s) { s.max_dynamic_shared = value; });
  return Status::success;
}

Status set_attribute(const OnDevice& k, int attribute, int value) {
  if (attribute == max_dynamic_shared) return set_shared(k, value);
  if (attribute < carveout || attribute > cluster_policy || attribute == cluster_must_be_set)
    return Status::invalid_value;
  if (attribute == carveout && (value < -1 || value > 100)) return Status::invalid_value;
  const bool cluster_size = attribute >= cluster_width && attribute <= cluster_depth;
  if (cluster_size && (value < 0 || k.kernel.required_cluster[0])) return Status::invalid_value;
  k.function.change(k.device.ordinal, [&](FunctionSettings& s) {
    if (attribute == carveout) s.carveout = value;
    if (cluster_size) s.cluster[attribute - cluster_width] = unsigned(value);
    if (attribute == non_portable_cluster) s.non_portable_cluster = value != 0;
    if (attribute == cluster_policy) s.cluster_policy = value;
  });
  return Status::success;
}

abi::FunctionAttributes attributes_of(const OnDevice& k) {
  const auto& [function, kernel, device] = k;
  const FunctionSettings settings = function.settings(device.ordinal);
  const auto& cluster = kernel.required_cluster;
  abi::FunctionAttributes result{};
  result.shared_bytes = kernel.static_shared;
  result.constant_bytes = kernel.constant_bytes;
  result.local_bytes = kernel.local_bytes;
  // .reqntid does not count here, as on an H100.
  const std::uint32_t most = device.machine_limits.max_threads_per_block;
  result.max_threads = int(kernel.required_block[0] ? most : std::min(kernel.max_threads, most));
  result.registers = int(machine::registers(kernel));
  result.ptx_version = kernel.target;
  result.binary_version = device.profile.architecture.number;
  result.max_dynamic_shared = int(dynamic_shared_limit(function, kernel, device));
  result.carveout = settings.carveout;
  result.cluster_must_be_set = cluster[0] != 0;
  result.cluster_width = int(cluster[0] ? cluster[0] : settings.cluster[0]);
  result.cluster_height = int(cluster[0] ? cluster[1] : settings.cluster[1]);
  result.cluster_depth = int(cluster[0] ? cluster[2] : settings.cluster[2]);
  result.cluster_policy = settings.cluster_policy;
  result.non_portable_cluster = settings.non_portable_cluster;
  return result;
}

}  // namespace

Result<std::shared_ptr<Function>> function_of(const void* handle) {
  if (!handle) return fail(Status::invalid_device_function);
  if (auto function = Registry::get().function(handle)) return function;
  if (auto function = Core::get().functions.find(handle)) return function;
  return fail(Status::invalid_handle);
}

Result<machine::Symbol> symbol_of(const void* host, int device) {
  const auto address = address_of(host);
  auto found = Core::get().memory.find(address);
  if (!found || found->kind != machine::AllocationKind::managed || found->name.empty())
    return Registry::get().symbol(host, device);
  if (found->base != address) return fail(Status::invalid_symbol);
  return machine::Symbol{found->name, found->base, found->size, ptx::Space::global, true};
}

Result<void*> symbol_range(const void* host, int device, std::size_t bytes, std::size_t offset) {
  auto found = symbol_of(host, device);
  if (!found) return tl::unexpected(found.error());
  if (offset > found->size || bytes > found->size - offset) return fail(Status::invalid_value);
  return pointer_to(found->address + offset);
}

Status get_attributes(abi::FunctionAttributes* place, const void* handle) {
  return with_kernel(handle, [&](const OnDevice& k) {
    if (!place) return Status::invalid_value;
    *place = attributes_of(k);
    return Status::success;
  });
}

Status set_attribute(const void* handle, int attribute, int value) {
  return with_kernel(handle, [&](const OnDevice& k) { return set_attribute(k, attribute, value); });
}

Status set_attribute(const void* handle, int attribute, int value, int ordinal) {
  if (!device_exists(ordinal)) return Status::invalid_device;
  return with_kernel(handle, Core::get().device(ordinal),
                     [&](const OnDevice& k) { return set_attribute(k, attribute, value); });
}

Status set_cache_config(const void* handle, int config) {
  return with_kernel(handle, [&](const OnDevice& k) {
    if (config < 0 || config > 3) return Status::invalid_value;
    k.function.change(k.device.ordinal, [&](FunctionSettings& s) { s.cache = config; });
    return Status::success;
  });
}

Status set_shared_bank(const void* handle, int config) {
  return with_kernel(handle, [&](const OnDevice& k) {
    if (config < 0 || config > 2) return Status::invalid_value;
    k.function.change(k.device.ordinal, [&](FunctionSettings& s) { s.shared_bank = config; });
    return Status::success;
  });
}

Status get_parameter(const void* handle, std::size_t index, std::size_t* offset,
                     std::size_t* size) {
  return with_kernel(handle, [&](const OnDevice& k) {
    if (!offset || index >= k.kernel.parameters.size()) return Status::invalid_value;
    *offset = k.kernel.parameters[index].offset;
    if (size) *size = k.kernel.parameters[index].size;
    return Status::success;
  });
}

Status get_resident_blocks(int* place, const void* handle, int threads, std::size_t dynamic_shared,
                           unsigned flags) {
  return with_kernel(handle, [&](const OnDevice& k) {
    if (!place || threads <= 0 || flags > 1) return Status::invalid_value;
    *place = int(machine::resident_blocks(k.kernel, unsigned(threads), dynamic_shared,
                                          k.device.machine_limits));
    return Status::success;
  });
}

Status get_available_shared(std::size_t* place, const void* handle, int blocks, int threads) {
  return with_kernel(handle, [&](const OnDevice& k) {
    if (!place || blocks <= 0 || threads <= 0) return Status::invalid_value;
    const machine::Limits& limits = k.device.machine_limits;
    if (int(machine::resident_blocks(k.kernel, unsigned(threads), 0, limits)) < blocks)
      return Status::invalid_value;
    const std::uint32_t share = limits.shared_per_multiprocessor / unsigned(blocks);
    const std::uint32_t most = std::min(share, limits.shared_per_block_optin);
    const std::uint32_t left = most > k.kernel.static_shared ? most - k.kernel.static_shared : 0;
    *place = std::min(left, dynamic_shared_limit(k.function, k.kernel, k.device));
    return Status::success;
  });
}

namespace {

// The cluster that a launch's attributes ask for.
machine::Dim3 requested_cluster(const abi::LaunchConfig& config) {
  machine::Dim3 cluster;
  for (unsigned i = 0; i < config.attribute_count; ++i)
    if (const auto& each = config.attributes[i]; each.id == abi::launch_cluster)
      cluster = {each.value.cluster.x, each.value.cluster.y, each.value.cluster.z};
  return cluster;
}

// The limits of the launch's stream: those of its green context, else of the device.
Result<machine::Limits> limits_at(const abi::LaunchConfig& config, const Device& device) {
  auto stream = stream_of(config.stream);
  if (!stream) return tl::unexpected(stream.error());
  return limits_of(partition_of(**stream).get(), device);
}

}  // namespace

Status get_resident_clusters(int* place, const void* handle, const abi::LaunchConfig* config) {
  return with_kernel(handle, [&](const OnDevice& k) {
    if (!place || !config) return Status::invalid_value;
    const abi::Dim3& block = config->block;
    const machine::Dim3 cluster = cluster_of(k.kernel, requested_cluster(*config));
    if (cluster.count() == 0) return Status::invalid_cluster_size;
    const auto limits = limits_at(*config, k.device);
    if (!limits) return limits.error().status;
    *place = int(machine::resident_clusters(k.kernel, cluster, block.x * block.y * block.z,
                                            config->dynamic_shared, *limits));
    return Status::success;
  });
}

Status get_largest_cluster(int* place, const void* handle, const abi::LaunchConfig* config) {
  return with_kernel(handle, [&](const OnDevice& k) {
    if (!place || !config) return Status::invalid_value;
    if (k.kernel.required_cluster[0]) return Status::invalid_cluster_size;  // as on an H200
    if (k.device.profile.architecture.number < first_with_clusters) return Status::not_supported;
    const auto limits = limits_at(*config, k.device);
    if (!limits) return limits.error().status;
    const std::uint64_t most = limits->max_cluster;
    *place = int(std::min(largest_cluster(k.function, k.device), most));
    return Status::success;
  });
}

}  // namespace inflight::cuda
