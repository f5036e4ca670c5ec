// What CUDA 12's runtime answers otherwise than CUDA 13's: older forms under the names that newer
// ones took in CUDA 13, calls that CUDA 13 removed, and structures that it changed. In
// libcudart.so.12 alone, where exports/runtime12.names says what CUDA 13's own forms are called.
#include "gpu/cuda/core/memory/batch.hpp"
#include "gpu/cuda/core/profiles.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

namespace {

constexpr int version = 12090;

// Before CUDA 12.2 a place was a device's number, -1 for the host.
constexpr abi::Location location_of(int device) {
  if (device < 0) return {abi::location_host, 0};
  return {abi::location_device, device};
}

// A stream's handle as a name for per-thread default streams means it.
void* own(void* stream) { return stream ? stream : reinterpret_cast<void*>(2); }

int properties(void* place, int ordinal, PropertyLayout layout,
               const char* call = __builtin_FUNCTION()) {
  return query(
      [&] {
        if (!device_exists(ordinal)) return Status::invalid_device;
        if (!place) return Status::invalid_value;
        fill_properties(Core::get().device(ordinal).profile, ordinal, place, layout);
        return Status::success;
      },
      call);
}

}  // namespace

// CUDA 13's forms, by their names here.
extern "C" {
int inflight_13_cudaPointerGetAttributes(abi::PointerAttributes*, const void*);
int cudaDeviceGetCacheConfig(int*);
int cudaDeviceGetLimit(std::size_t*, int);
int cudaDeviceReset();
int cudaDeviceSetCacheConfig(int);
int cudaDeviceSetLimit(int, std::size_t);
int cudaDeviceSynchronize();
int cudaEventElapsedTime(float*, void*, void*);
int cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long, int*);
int cudaGetDriverEntryPointByVersion_ptsz(const char*, void**, unsigned, unsigned long long, int*);
int cudaGraphAddDependencies_v2(void*, void* const*, void* const*, const abi::EdgeData*,
                                std::size_t);
int cudaGraphAddNode_v2(void**, void*, void* const*, const abi::EdgeData*, std::size_t,
                        abi::GraphNode*);
int cudaGraphGetEdges_v2(void*, void**, void**, abi::EdgeData*, std::size_t*);
int cudaGraphNodeGetDependencies_v2(void*, void**, abi::EdgeData*, std::size_t*);
int cudaGraphNodeGetDependentNodes_v2(void*, void**, abi::EdgeData*, std::size_t*);
int cudaGraphRemoveDependencies_v2(void*, void* const*, void* const*, const abi::EdgeData*,
                                   std::size_t);
int cudaMemAdvise_v2(const void*, std::size_t, int, abi::Location);
int cudaMemPrefetchAsync_v2(const void*, std::size_t, abi::Location, unsigned, void*);
int cudaStreamGetCaptureInfo_v3(void*, int*, unsigned long long*, void**, void* const**,
                                const abi::EdgeData**, std::size_t*);
int cudaStreamUpdateCaptureDependencies_v2(void*, void**, const abi::EdgeData*, std::size_t,
                                           unsigned);
}

// --- devices ----------------------------------------------------------------------------------

INFLIGHT_API int cudaRuntimeGetVersion(int* place) {
  return query([&] {
    if (!place) return Status::invalid_value;
    *place = version;
    return Status::success;
  });
}

INFLIGHT_API int cudaGetDeviceProperties_v2(void* place, int ordinal) {
  return properties(place, ordinal, PropertyLayout::cuda12);
}
// CUDA 12 keeps this name for programs that were compiled before it.
INFLIGHT_API int cudaGetDeviceProperties(void* place, int ordinal) {
  return properties(place, ordinal, PropertyLayout::cuda11);
}

INFLIGHT_API int cudaGetDriverEntryPoint(const char* name, void** place, unsigned long long flags,
                                         int* result) {
  return cudaGetDriverEntryPointByVersion(name, place, version, flags, result);
}
INFLIGHT_API int cudaGetDriverEntryPoint_ptsz(const char* name, void** place,
                                              unsigned long long flags, int* result) {
  return cudaGetDriverEntryPointByVersion_ptsz(name, place, version, flags, result);
}

INFLIGHT_API int cudaThreadExit() { return cudaDeviceReset(); }
INFLIGHT_API int cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
INFLIGHT_API int cudaThreadSetLimit(int limit, std::size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
INFLIGHT_API int cudaThreadGetLimit(std::size_t* value, int limit) {
  return cudaDeviceGetLimit(value, limit);
}
INFLIGHT_API int cudaThreadSetCacheConfig(int config) { return cudaDeviceSetCacheConfig(config); }
INFLIGHT_API int cudaThreadGetCacheConfig(int* config) { return cudaDeviceGetCacheConfig(config); }
// Every device since sm_13 has doubles: there is nothing to convert.
INFLIGHT_API int cudaSetDoubleForDevice(double*) {
  return query([] { return Status::success; });
}
INFLIGHT_API int cudaSetDoubleForHost(double*) {
  return query([] { return Status::success; });
}

INFLIGHT_API int cudaEventElapsedTime_v2(float* milliseconds, void* start, void* end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}

// --- memory -----------------------------------------------------------------------------------

INFLIGHT_API int cudaPointerGetAttributes(abi::PointerAttributes12* place, const void* pointer) {
  abi::PointerAttributes whole{};
  const int code = inflight_13_cudaPointerGetAttributes(place ? &whole : nullptr, pointer);
  if (code == 0) *place = {whole.type, whole.device, whole.device_pointer, whole.host_pointer};
  return code;
}

INFLIGHT_API int cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, int device) {
  return cudaMemAdvise_v2(pointer, bytes, advice, location_of(device));
}
INFLIGHT_API int cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                      void* stream) {
  return cudaMemPrefetchAsync_v2(pointer, bytes, location_of(device), 0, stream);
}
INFLIGHT_API int cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t bytes, int device,
                                           void* stream) {
  return cudaMemPrefetchAsync_v2(pointer, bytes, location_of(device), 0, own(stream));
}

// Until CUDA 13 a place for the index of the copy that was refused stood before the stream.
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
  return cudaMemcpyBatchAsync(to, from, bytes, count, attributes, starts, attribute_count, failed,
                              own(stream));
}
INFLIGHT_API int cudaMemcpy3DBatchAsync(std::size_t count, const abi::BatchCopy3D* list,
                                        std::size_t* failed, unsigned long long flags,
                                        void* stream) {
  return on_stream(stream, [&](Stream& s) { return copy_batch(s, list, count, flags, failed); });
}
INFLIGHT_API int cudaMemcpy3DBatchAsync_ptsz(std::size_t count, const abi::BatchCopy3D* list,
                                             std::size_t* failed, unsigned long long flags,
                                             void* stream) {
  return cudaMemcpy3DBatchAsync(count, list, failed, flags, own(stream));
}

// --- captures ---------------------------------------------------------------------------------

// The forms of CUDA 10 and 11, and their names for per-thread default streams.
INFLIGHT_API int cudaStreamGetCaptureInfo(void* stream, int* state, unsigned long long* id) {
  return cudaStreamGetCaptureInfo_v3(stream, state, id, nullptr, nullptr, nullptr, nullptr);
}
INFLIGHT_API int cudaStreamGetCaptureInfo_ptsz(void* stream, int* state, unsigned long long* id) {
  return cudaStreamGetCaptureInfo(own(stream), state, id);
}
INFLIGHT_API int cudaStreamGetCaptureInfo_v2(void* stream, int* state, unsigned long long* id,
                                             void** graph, void* const** tips, std::size_t* count) {
  return cudaStreamGetCaptureInfo_v3(stream, state, id, graph, tips, nullptr, count);
}
INFLIGHT_API int cudaStreamGetCaptureInfo_v2_ptsz(void* stream, int* state, unsigned long long* id,
                                                  void** graph, void* const** tips,
                                                  std::size_t* count) {
  return cudaStreamGetCaptureInfo_v2(own(stream), state, id, graph, tips, count);
}
INFLIGHT_API int cudaStreamUpdateCaptureDependencies(void* stream, void** tips, std::size_t count,
                                                     unsigned flags) {
  return cudaStreamUpdateCaptureDependencies_v2(stream, tips, nullptr, count, flags);
}
INFLIGHT_API int cudaStreamUpdateCaptureDependencies_ptsz(void* stream, void** tips,
                                                          std::size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(own(stream), tips, count, flags);
}

// --- graphs, whose edges had no data before CUDA 12.3 -----------------------------------------

INFLIGHT_API int cudaGraphAddNode(void** place, void* graph, void* const* dependencies,
                                  std::size_t count, abi::GraphNode* node) {
  return cudaGraphAddNode_v2(place, graph, dependencies, nullptr, count, node);
}
INFLIGHT_API int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to,
                                          std::size_t count) {
  return cudaGraphAddDependencies_v2(graph, from, to, nullptr, count);
}
INFLIGHT_API int cudaGraphRemoveDependencies(void* graph, void* const* from, void* const* to,
                                             std::size_t count) {
  return cudaGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}
INFLIGHT_API int cudaGraphGetEdges(void* graph, void** from, void** to, std::size_t* count) {
  return cudaGraphGetEdges_v2(graph, from, to, nullptr, count);
}
INFLIGHT_API int cudaGraphNodeGetDependencies(void* node, void** place, std::size_t* count) {
  return cudaGraphNodeGetDependencies_v2(node, place, nullptr, count);
}
INFLIGHT_API int cudaGraphNodeGetDependentNodes(void* node, void** place, std::size_t* count) {
  return cudaGraphNodeGetDependentNodes_v2(node, place, nullptr, count);
}
