// Libraries loaded at run time, and the driver's entry points.
#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/modules/module.hpp"
#include "gpu/cuda/runtime/driver_library.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

INFLIGHT_API int INFLIGHT_STREAMED(cudaGetDriverEntryPoint)(const char* name, void** place,
                                                            unsigned long long flags, int* result) {
  constexpr unsigned built_for = 13000;
  return query(
      [&] { return find_driver_entry_point(name, place, built_for, flags, per_thread, result); });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaGetDriverEntryPointByVersion)(const char* name, void** place,
                                                                     unsigned version,
                                                                     unsigned long long flags,
                                                                     int* result) {
  return query(
      [&] { return find_driver_entry_point(name, place, version, flags, per_thread, result); });
}

#ifndef INFLIGHT_PER_THREAD

namespace {

template <class Body>
int on_library(const void* handle, Body body, const char* call = __builtin_FUNCTION()) {
  return entry(
      [&]() -> Status {
        auto library = Core::get().libraries.find(handle);
        return library ? as_status(body(*library)) : Status::invalid_handle;
      },
      call);
}

Status keep(void** place, Result<std::shared_ptr<LoadedModule>> library) {
  if (!library) return report(library);
  *place = Core::get().libraries.add(std::move(*library));
  return Status::success;
}

Status variable(LoadedModule& library, const char* name, bool managed, void** place,
                std::size_t* bytes) {
  if (!name) return Status::invalid_value;
  auto symbol = library.symbol(name, current_device().ordinal);
  if (!symbol || symbol->managed != managed) return Status::not_found;
  if (place) *place = pointer_to(symbol->address);
  if (bytes) *bytes = symbol->size;
  return Status::success;
}

}  // namespace

INFLIGHT_API int cudaLibraryLoadData(void** place, const void* image, int*, void**, unsigned, int*,
                                     void**, unsigned) {
  return entry([&] {
    if (!place || !image) return Status::invalid_value;
    return keep(place, LoadedModule::from_memory(image));
  });
}

INFLIGHT_API int cudaLibraryLoadFromFile(void** place, const char* path, int*, void**, unsigned,
                                         int*, void**, unsigned) {
  return entry([&] {
    if (!place || !path) return Status::invalid_value;
    return keep(place, LoadedModule::from_file(path));
  });
}

INFLIGHT_API int cudaLibraryUnload(void* handle) {
  return entry([&] {
    auto library = Core::get().libraries.remove(handle);
    if (!library) return Status::invalid_handle;
    unload(*library);
    return Status::success;
  });
}

INFLIGHT_API int cudaLibraryGetKernel(void** place, void* handle, const char* name) {
  return on_library(handle, [&](LoadedModule& m) { return get_kernel(place, m, name); });
}

INFLIGHT_API int cudaLibraryGetKernelCount(unsigned* place, void* handle) {
  return on_library(handle, [&](LoadedModule& m) { return get_kernel_count(place, m); });
}

INFLIGHT_API int cudaLibraryEnumerateKernels(void** place, unsigned count, void* handle) {
  return on_library(handle, [&](LoadedModule& m) { return get_kernels(place, count, m); });
}

INFLIGHT_API int cudaLibraryGetGlobal(void** place, std::size_t* bytes, void* handle,
                                      const char* name) {
  return on_library(
      handle, [&](LoadedModule& library) { return variable(library, name, false, place, bytes); });
}

INFLIGHT_API int cudaLibraryGetManaged(void** place, std::size_t* bytes, void* handle,
                                       const char* name) {
  return on_library(
      handle, [&](LoadedModule& library) { return variable(library, name, true, place, bytes); });
}

// No device has unified function pointers, which the host could call too.
INFLIGHT_API int cudaLibraryGetUnifiedFunction(void** place, void* handle, const char* name) {
  return on_library(handle, [&](LoadedModule&) {
    return place && name ? Status::not_found : Status::invalid_value;
  });
}

#endif
