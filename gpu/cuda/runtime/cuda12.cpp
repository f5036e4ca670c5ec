// Differences of CUDA 12's runtime from CUDA 13's: older forms of calls whose names CUDA 13 gave to
// newer forms, calls that CUDA 13 removed, and structures that it changed. Only in libcudart.so.12,
// where CUDA 13's forms have the names in exports/runtime12.names.
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/calls/allocation.hpp"
#include "gpu/cuda/core/calls/batch.hpp"
#include "gpu/cuda/core/calls/devices.hpp"
#include "gpu/cuda/core/calls/graphs.hpp"
#include "gpu/cuda/core/calls/managed.hpp"
#include "gpu/cuda/core/calls/nodes.hpp"
#include "gpu/cuda/core/calls/several_devices.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/runtime/driver_library.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

namespace {

constexpr int version = 12090;

struct LaunchParams {  // cudaLaunchParams
  const void* function;
  abi::Dim3 grid, block;
  void** arguments;
  std::size_t shared;
  void* stream;
};

// Before CUDA 12.2 a location was a device's number, or -1 for the host.
constexpr abi::Location location_of(int device) {
  if (device < 0) return {abi::location_host, 0};
  return {abi::location_device, device};
}

// The handle that `stream` means in a call for per-thread default streams.
void* own(void* stream) { return stream ? stream : reinterpret_cast<void*>(2); }

int properties(void* place, int ordinal, PropertyLayout layout,
               const char* call = __builtin_FUNCTION()) {
  return query(
      [&] {
        if (!device_exists(ordinal)) return Status::invalid_device;
        if (!place) return Status::invalid_value;
        fill_properties(Core::get().profile(), Core::get().device(ordinal).index, place, layout);
        return Status::success;
      },
      call);
}

}  // namespace

// --- devices ----------------------------------------------------------------------------------

INFLIGHT_API int cudaRuntimeGetVersion(int* place) { return record(store_value(place, version)); }

INFLIGHT_API int cudaGetDeviceProperties_v2(void* place, int ordinal) {
  return properties(place, ordinal, PropertyLayout::cuda12);
}
// CUDA 12 keeps this name for programs compiled with an older CUDA.
INFLIGHT_API int cudaGetDeviceProperties(void* place, int ordinal) {
  return properties(place, ordinal, PropertyLayout::cuda11);
}

INFLIGHT_API int cudaGetDriverEntryPoint(const char* name, void** place, unsigned long long flags,
                                         int* result) {
  return query([&] { return find_driver_entry_point(name, place, version, flags, false, result); });
}
INFLIGHT_API int cudaGetDriverEntryPoint_ptsz(const char* name, void** place,
                                              unsigned long long flags, int* result) {
  return query([&] { return find_driver_entry_point(name, place, version, flags, true, result); });
}

INFLIGHT_API int cudaThreadExit() {
  return query([] { return reset_device(); });
}
INFLIGHT_API int cudaThreadSynchronize() {
  return entry([] { return synchronize_device(); });
}
INFLIGHT_API int cudaThreadSetLimit(int limit, std::size_t value) {
  return entry([&] { return set_limit(limit, value); });
}
INFLIGHT_API int cudaThreadGetLimit(std::size_t* value, int limit) {
  return entry([&] { return get_limit(value, limit); });
}
INFLIGHT_API int cudaThreadSetCacheConfig(int config) {
  return entry([&] { return set_cache_config(config); });
}
INFLIGHT_API int cudaThreadGetCacheConfig(int* config) {
  return query([&] { return store_value(config, current_device().cache_config.load()); });
}
// Every device since sm_13 has doubles, so there is nothing to convert.
INFLIGHT_API int cudaSetDoubleForDevice(double*) {
  return query([] { return Status::success; });
}
INFLIGHT_API int cudaSetDoubleForHost(double*) {
  return query([] { return Status::success; });
}

INFLIGHT_API int cudaEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  return entry([&] { return get_elapsed(milliseconds, start, end); });
}

// --- memory -----------------------------------------------------------------------------------

INFLIGHT_API int cudaPointerGetAttributes(abi::PointerAttributes12* place, const void* pointer) {
  return query([&] {
    abi::PointerAttributes whole{};
    if (Status fault = current_device().fault(); fault != Status::success) return fault;
    const Status status = get_pointer_attributes(place ? &whole : nullptr, pointer);
    if (status == Status::success)
      *place = {whole.type, whole.device, whole.device_pointer, whole.host_pointer};
    return status;
  });
}

INFLIGHT_API int cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, int device) {
  return entry([&] { return advise(pointer, bytes, advice, location_of(device)); });
}
INFLIGHT_API int cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                      void* stream) {
  return on_stream(stream,
                   [&](Stream& s) { return prefetch(s, pointer, bytes, location_of(device), 0); });
}
INFLIGHT_API int cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t bytes, int device,
                                           void* stream) {
  return on_stream(own(stream),
                   [&](Stream& s) { return prefetch(s, pointer, bytes, location_of(device), 0); });
}

// Before CUDA 13, these calls store the index of the failed copy.
INFLIGHT_API int cudaMemcpyBatchAsync(void* const* to, void* const* from, const std::size_t* bytes,
                                      std::size_t count, const abi::CopyAttributes* attributes,
                                      const std::size_t* starts, std::size_t attribute_count,
                                      std::size_t* failed, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return copy_batch(s, {to, from, bytes, count, attributes, starts, attribute_count}, failed);
  });
}
INFLIGHT_API int cudaMemcpyBatchAsync_ptsz(void* const* to, void* const* from,
                                           const std::size_t* bytes, std::size_t count,
                                           const abi::CopyAttributes* attributes,
                                           const std::size_t* starts, std::size_t attribute_count,
                                           std::size_t* failed, void* stream) {
  return on_stream(own(stream), [&](Stream& s) {
    return copy_batch(s, {to, from, bytes, count, attributes, starts, attribute_count}, failed);
  });
}
INFLIGHT_API int cudaMemcpy3DBatchAsync(std::size_t count, const abi::BatchCopy3D* list,
                                        std::size_t* failed, unsigned long long flags,
                                        void* stream) {
  return on_stream(stream, [&](Stream& s) { return copy_batch(s, list, count, flags, failed); });
}
INFLIGHT_API int cudaMemcpy3DBatchAsync_ptsz(std::size_t count, const abi::BatchCopy3D* list,
                                             std::size_t* failed, unsigned long long flags,
                                             void* stream) {
  return on_stream(own(stream),
                   [&](Stream& s) { return copy_batch(s, list, count, flags, failed); });
}

// --- several devices --------------------------------------------------------------------------

INFLIGHT_API int cudaLaunchCooperativeKernelMultiDevice(const LaunchParams* list, unsigned count,
                                                        unsigned flags) {
  return entry([&] {
    if (count && !list) return Status::invalid_value;
    std::vector<DeviceLaunch> launches;
    for (const LaunchParams& each : std::span(list, count))
      launches.push_back(
          {each.function, each.grid, each.block, each.shared, each.stream, each.arguments});
    return launch_on_devices(launches, flags);
  });
}

// --- captures ---------------------------------------------------------------------------------

// The forms of CUDA 10 and 11, and their names for per-thread default streams.
INFLIGHT_API int cudaStreamGetCaptureInfo(void* stream, int* state, unsigned long long* id) {
  return on_stream(stream,
                   [&](Stream& s) { return get_capture_info(s, {.state = state, .id = id}); });
}
INFLIGHT_API int cudaStreamGetCaptureInfo_ptsz(void* stream, int* state, unsigned long long* id) {
  return on_stream(own(stream),
                   [&](Stream& s) { return get_capture_info(s, {.state = state, .id = id}); });
}
INFLIGHT_API int cudaStreamGetCaptureInfo_v2(void* stream, int* state, unsigned long long* id,
                                             void** graph, void* const** tips, std::size_t* count) {
  return on_stream(stream, [&](Stream& s) {
    return get_capture_info(s, {state, id, graph, tips, nullptr, count});
  });
}
INFLIGHT_API int cudaStreamGetCaptureInfo_v2_ptsz(void* stream, int* state, unsigned long long* id,
                                                  void** graph, void* const** tips,
                                                  std::size_t* count) {
  return on_stream(own(stream), [&](Stream& s) {
    return get_capture_info(s, {state, id, graph, tips, nullptr, count});
  });
}
INFLIGHT_API int cudaStreamUpdateCaptureDependencies(void* stream, void** tips, std::size_t count,
                                                     unsigned flags) {
  return on_stream(stream,
                   [&](Stream& s) { return update_capture(s, tips, nullptr, count, flags); });
}
INFLIGHT_API int cudaStreamUpdateCaptureDependencies_ptsz(void* stream, void** tips,
                                                          std::size_t count, unsigned flags) {
  return on_stream(own(stream),
                   [&](Stream& s) { return update_capture(s, tips, nullptr, count, flags); });
}

// --- graphs, whose edges had no data before CUDA 12.3 -----------------------------------------

INFLIGHT_API int cudaGraphAddNode(void** place, void* graph, void* const* dependencies,
                                  std::size_t count, abi::GraphNode* node) {
  return entry([&] {
    return add_node(place, graph, dependencies, count, work_of(node, {graph, dependencies, count}));
  });
}
INFLIGHT_API int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to,
                                          std::size_t count) {
  return entry([&] { return add_dependencies(graph, from, to, nullptr, count); });
}
INFLIGHT_API int cudaGraphRemoveDependencies(void* graph, void* const* from, void* const* to,
                                             std::size_t count) {
  return entry([&] { return remove_dependencies(graph, from, to, nullptr, count); });
}
INFLIGHT_API int cudaGraphGetEdges(void* graph, void** from, void** to, std::size_t* count) {
  return entry([&] { return get_edges(graph, from, to, nullptr, count); });
}
INFLIGHT_API int cudaGraphNodeGetDependencies(void* node, void** place, std::size_t* count) {
  return entry([&] { return get_dependencies(node, place, nullptr, count); });
}
INFLIGHT_API int cudaGraphNodeGetDependentNodes(void* node, void** place, std::size_t* count) {
  return entry([&] { return get_dependents(node, place, nullptr, count); });
}
