// Kernels as objects: registration, attributes, occupancy.
#include <algorithm>
#include <cstring>

#include "gpu/cuda/core/module.hpp"
#include "gpu/cuda/core/profiles.hpp"
#include "gpu/cuda/core/stream/launch.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;
namespace machine = inflight::machine;

// --- registration, before main ----------------------------------------------------------------

namespace {

// What could not be registered is unknown when it is used.
template <class Body>
void registering(Body body, const char* call = __builtin_FUNCTION()) {
  record(guarded(call, [&] {
    body(Registry::get());
    return Status::success;
  }));
}

}  // namespace

INFLIGHT_API void** __cudaRegisterFatBinary(void* wrapper) {
  static void* none = nullptr;  // the handle of nothing
  void** handle = &none;
  registering([&](Registry& registry) { handle = registry.add(wrapper); });
  return handle;
}
INFLIGHT_API void __cudaRegisterFatBinaryEnd(void**) {}
INFLIGHT_API void __cudaUnregisterFatBinary(void** handle) {
  registering([&](Registry& registry) { registry.remove(handle); });
}

INFLIGHT_API void __cudaRegisterFunction(void** handle, const char* host, char*,
                                         const char* device_name, int, void*, void*, void*, void*,
                                         int*) {
  registering([&](Registry& registry) { registry.add_function(handle, host, device_name); });
}

INFLIGHT_API void __cudaRegisterVar(void** handle, char* host, char*, const char* device_name, int,
                                    std::size_t size, int, int) {
  registering([&](Registry& registry) { registry.add_variable(handle, host, device_name, size); });
}

INFLIGHT_API void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*,
                                           const char* device_name, int, std::size_t size, int,
                                           int) {
  registering(
      [&](Registry& registry) { registry.add_managed(handle, host_pointer, device_name, size); });
}

INFLIGHT_API char __cudaInitModule(void** handle) {
  return guarded("__cudaInitModule", [&] {
           return Registry::get().initialise(handle, current_device().ordinal);
         }) == Status::success;
}

namespace {
Status store_kernel(void** place, const void* host) {
  if (!place) return Status::invalid_value;
  auto function = function_of(host);
  if (!function) return function.error().status;
  *place = function->get();
  return Status::success;
}
}  // namespace

INFLIGHT_API int __cudaGetKernel(void** place, const void* host) {
  return query([&] { return store_kernel(place, host); });
}

INFLIGHT_API int cudaGetKernel(void** place, const void* host) {
  return query([&] { return store_kernel(place, host); });
}
INFLIGHT_API int cudaGetFuncBySymbol(void** place, const void* host) {
  return cudaGetKernel(place, host);
}

// --- attributes -------------------------------------------------------------------------------

namespace {

// For calls about one kernel on the current device: body(Function&, const Kernel&, Device&).
template <class Body>
int about(const void* handle, Body body, const char* call = __builtin_FUNCTION()) {
  return entry(
      [&]() -> Status {
        auto function = function_of(handle);
        if (!function) return function.error().status;
        Device& device = current_device();
        auto kernel = (*function)->on(device.ordinal);
        if (!kernel) return tell(kernel);
        return as_status(body(**function, **kernel, device));
      },
      call);
}

enum FunctionAttribute {
  max_dynamic_shared = 8,
  carveout = 9,
  cluster_must_be_set = 10,
  cluster_width = 11,
  cluster_depth = 13,
  non_portable_cluster = 14,
  cluster_policy = 15,
};

Status set_shared(Function& function, const machine::Kernel& kernel, Device& device, int value) {
  const std::uint64_t most = device.machine_limits.shared_per_block_optin;
  if (value < 0 || std::uint64_t(value) + kernel.static_shared > most) return Status::invalid_value;
  function.change(device.ordinal, [&](FunctionSettings& s) { s.max_dynamic_shared = value; });
  return Status::success;
}

Status set_attribute(Function& function, const machine::Kernel& kernel, Device& device,
                     int attribute, int value) {
  if (attribute == max_dynamic_shared) return set_shared(function, kernel, device, value);
  if (attribute < carveout || attribute > cluster_policy || attribute == cluster_must_be_set)
    return Status::invalid_value;
  if (attribute == carveout && (value < -1 || value > 100)) return Status::invalid_value;
  const bool cluster_size = attribute >= cluster_width && attribute <= cluster_depth;
  if (cluster_size && (value < 0 || kernel.required_cluster[0])) return Status::invalid_value;
  function.change(device.ordinal, [&](FunctionSettings& s) {
    if (attribute == carveout) s.carveout = value;
    if (cluster_size) s.cluster[attribute - cluster_width] = unsigned(value);
    if (attribute == non_portable_cluster) s.non_portable_cluster = value != 0;
    if (attribute == cluster_policy) s.cluster_policy = value;
  });
  return Status::success;
}

abi::FunctionAttributes attributes_of(const Function& function, const machine::Kernel& kernel,
                                      const Device& device) {
  const FunctionSettings settings = function.settings(device.ordinal);
  const auto& cluster = kernel.required_cluster;
  const Architecture& architecture = device.profile.architecture;
  abi::FunctionAttributes result{};
  result.shared_bytes = kernel.static_shared;
  result.constant_bytes = kernel.constant_bytes;
  result.local_bytes = kernel.local_bytes;
  result.max_threads =
      int(std::min(kernel.max_threads, device.machine_limits.max_threads_per_block));
  result.registers = int(machine::registers(kernel));
  result.ptx_version = kernel.target;
  result.binary_version = architecture.number;
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

INFLIGHT_API int cudaFuncGetAttributes(abi::FunctionAttributes* place, const void* handle) {
  return about(handle, [&](Function& function, const machine::Kernel& kernel, Device& device) {
    if (!place) return Status::invalid_value;
    *place = attributes_of(function, kernel, device);
    return Status::success;
  });
}

INFLIGHT_API int cudaFuncSetAttribute(const void* handle, int attribute, int value) {
  return about(handle, [&](Function& function, const machine::Kernel& kernel, Device& device) {
    return set_attribute(function, kernel, device, attribute, value);
  });
}

INFLIGHT_API int cudaKernelSetAttributeForDevice(void* handle, int attribute, int value,
                                                 int ordinal) {
  return entry([&]() -> Status {
    if (!device_exists(ordinal)) return Status::invalid_device;
    auto function = function_of(handle);
    if (!function) return function.error().status;
    auto kernel = (*function)->on(ordinal);
    if (!kernel) return tell(kernel);
    return set_attribute(**function, **kernel, Core::get().device(ordinal), attribute, value);
  });
}

INFLIGHT_API int cudaFuncSetCacheConfig(const void* handle, int config) {
  return about(handle, [&](Function& function, const machine::Kernel&, Device& device) {
    if (config < 0 || config > 3) return Status::invalid_value;
    function.change(device.ordinal, [&](FunctionSettings& s) { s.cache = config; });
    return Status::success;
  });
}

INFLIGHT_API int cudaFuncSetSharedMemConfig(const void* handle, int config) {
  return about(handle, [&](Function& function, const machine::Kernel&, Device& device) {
    if (config < 0 || config > 2) return Status::invalid_value;
    function.change(device.ordinal, [&](FunctionSettings& s) { s.shared_bank = config; });
    return Status::success;
  });
}

INFLIGHT_API int cudaFuncGetName(const char** place, const void* handle) {
  return entry([&] {
    auto function = function_of(handle);
    if (!function) return function.error().status;
    if (!place) return Status::invalid_value;
    *place = (*function)->name.c_str();
    return Status::success;
  });
}

INFLIGHT_API int cudaFuncGetParamInfo(const void* handle, std::size_t index, std::size_t* offset,
                                      std::size_t* size) {
  return about(handle, [&](Function&, const machine::Kernel& kernel, Device&) {
    if (index >= kernel.parameters.size() || !offset) return Status::invalid_value;
    *offset = kernel.parameters[index].offset;
    if (size) *size = kernel.parameters[index].size;
    return Status::success;
  });
}

// --- occupancy --------------------------------------------------------------------------------

INFLIGHT_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* place, const void* handle, int threads, std::size_t dynamic_shared, unsigned flags) {
  return about(handle, [&](Function&, const machine::Kernel& kernel, Device& device) {
    if (!place || threads <= 0 || flags > 1) return Status::invalid_value;
    *place = int(
        machine::resident_blocks(kernel, unsigned(threads), dynamic_shared, device.machine_limits));
    return Status::success;
  });
}

INFLIGHT_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* place, const void* handle,
                                                               int threads,
                                                               std::size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(place, handle, threads,
                                                                dynamic_shared, 0);
}

INFLIGHT_API int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* place, const void* handle,
                                                           int blocks, int threads) {
  return about(handle, [&](Function&, const machine::Kernel& kernel, Device& device) {
    if (!place || blocks <= 0 || threads <= 0) return Status::invalid_value;
    const machine::Limits& limits = device.machine_limits;
    if (int(machine::resident_blocks(kernel, unsigned(threads), 0, limits)) < blocks)
      return Status::invalid_value;
    const std::uint32_t share = limits.shared_per_multiprocessor / unsigned(blocks);
    const std::uint32_t most = std::min(share, limits.shared_per_block_optin);
    *place = most > kernel.static_shared ? most - kernel.static_shared : 0;
    return Status::success;
  });
}

namespace {

machine::Dim3 cluster_asked(const abi::LaunchConfig& config) {
  machine::Dim3 cluster;
  for (unsigned i = 0; i < config.attribute_count; ++i)
    if (const auto& each = config.attributes[i]; each.id == abi::launch_cluster)
      cluster = {each.value.cluster.x, each.value.cluster.y, each.value.cluster.z};
  return cluster;
}

constexpr int first_with_clusters = 90;  // sm number
constexpr int portable_cluster = 8, largest_cluster = 16;

}  // namespace

INFLIGHT_API int cudaOccupancyMaxActiveClusters(int* place, const void* handle,
                                                const abi::LaunchConfig* config) {
  return about(handle, [&](Function&, const machine::Kernel& kernel, Device& device) {
    if (!place || !config) return Status::invalid_value;
    const abi::Dim3& block = config->block;
    const machine::Dim3 cluster = cluster_of(kernel, cluster_asked(*config));
    if (cluster.count() == 0) return Status::invalid_cluster_size;
    *place = int(machine::resident_clusters(kernel, cluster, block.x * block.y * block.z,
                                            config->dynamic_shared, device.machine_limits));
    return Status::success;
  });
}

INFLIGHT_API int cudaOccupancyMaxPotentialClusterSize(int* place, const void* handle,
                                                      const abi::LaunchConfig* config) {
  return about(handle, [&](Function& function, const machine::Kernel& kernel, Device& device) {
    if (!place || !config) return Status::invalid_value;
    if (kernel.required_cluster[0]) return Status::invalid_cluster_size;  // as an H200 answers
    if (device.profile.architecture.number < first_with_clusters) return Status::not_supported;
    const bool any = function.settings(device.ordinal).non_portable_cluster;
    *place = any ? largest_cluster : portable_cluster;
    return Status::success;
  });
}
