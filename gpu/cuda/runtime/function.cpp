// Kernels: registration, attributes, occupancy.
#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/modules/registry.hpp"
#include "gpu/cuda/core/work/kernels.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

// --- registration, before main ----------------------------------------------------------------

namespace {

// An object that could not be registered is not found when it is used.
template <class Body>
void registering(Body body, const char* call = __builtin_FUNCTION()) {
  record(guarded(call, [&] {
    body(Registry::get());
    return Status::success;
  }));
}

}  // namespace

INFLIGHT_API void** __cudaRegisterFatBinary(void* wrapper) {
  static void* none = nullptr;  // the handle if registration fails
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
  return function ? store_value(place, function->get()) : function.error().status;
}
}  // namespace

INFLIGHT_API int __cudaGetKernel(void** place, const void* host) {
  return query([&] { return store_kernel(place, host); });
}

INFLIGHT_API int cudaGetKernel(void** place, const void* host) {
  return query([&] { return store_kernel(place, host); });
}
INFLIGHT_API int cudaGetFuncBySymbol(void** place, const void* host) {
  return query([&] { return store_kernel(place, host); });
}

// --- attributes -------------------------------------------------------------------------------

INFLIGHT_API int cudaFuncGetAttributes(abi::FunctionAttributes* place, const void* handle) {
  return entry([&] { return get_attributes(place, handle); });
}

INFLIGHT_API int cudaFuncSetAttribute(const void* handle, int attribute, int value) {
  return entry([&] { return set_attribute(handle, attribute, value); });
}

INFLIGHT_API int cudaKernelSetAttributeForDevice(void* handle, int attribute, int value,
                                                 int ordinal) {
  return entry([&] { return set_attribute(handle, attribute, value, ordinal); });
}

INFLIGHT_API int cudaFuncSetCacheConfig(const void* handle, int config) {
  return entry([&] { return set_cache_config(handle, config); });
}

INFLIGHT_API int cudaFuncSetSharedMemConfig(const void* handle, int config) {
  return entry([&] { return set_shared_bank(handle, config); });
}

INFLIGHT_API int cudaFuncGetName(const char** place, const void* handle) {
  return entry([&] {
    auto function = function_of(handle);
    return function ? store_value(place, (*function)->name.c_str()) : function.error().status;
  });
}

INFLIGHT_API int cudaFuncGetParamInfo(const void* handle, std::size_t index, std::size_t* offset,
                                      std::size_t* size) {
  return entry([&] { return get_parameter(handle, index, offset, size); });
}

// --- occupancy --------------------------------------------------------------------------------

INFLIGHT_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* place, const void* handle, int threads, std::size_t dynamic_shared, unsigned flags) {
  return entry([&] { return get_resident_blocks(place, handle, threads, dynamic_shared, flags); });
}

INFLIGHT_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* place, const void* handle,
                                                               int threads,
                                                               std::size_t dynamic_shared) {
  return entry([&] { return get_resident_blocks(place, handle, threads, dynamic_shared, 0); });
}

INFLIGHT_API int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* place, const void* handle,
                                                           int blocks, int threads) {
  return entry([&] { return get_available_shared(place, handle, blocks, threads); });
}

INFLIGHT_API int cudaOccupancyMaxActiveClusters(int* place, const void* handle,
                                                const abi::LaunchConfig* config) {
  return entry([&] { return get_resident_clusters(place, handle, config); });
}

INFLIGHT_API int cudaOccupancyMaxPotentialClusterSize(int* place, const void* handle,
                                                      const abi::LaunchConfig* config) {
  return entry([&] { return get_largest_cluster(place, handle, config); });
}
