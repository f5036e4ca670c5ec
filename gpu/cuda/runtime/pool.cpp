// Memory pools, and allocation in stream order.
#include "gpu/cuda/core/memory/pool.hpp"

#include "gpu/cuda/core/calls/pools.hpp"
#include "gpu/cuda/core/calls/shared_pools.hpp"
#include "gpu/cuda/runtime/entry.hpp"

using namespace inflight::cuda;

namespace {

#ifndef INFLIGHT_PER_THREAD

// A call on a pool. Runs body(shared_ptr<Pool>).
template <class Body>
int on_pool(const void* handle, Body body, const char* call = __builtin_FUNCTION()) {
  return entry(
      [&]() -> Status {
        auto pool = find_pool(handle);
        return pool ? body(pool) : Status::invalid_value;
      },
      call);
}

#endif

}  // namespace

INFLIGHT_API int INFLIGHT_STREAMED(cudaMallocAsync)(void** place, std::size_t bytes, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    return allocate_ordered(place, bytes, current_pool(device_place(s.device().ordinal)), s);
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMallocFromPoolAsync)(void** place, std::size_t bytes,
                                                            void* handle, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    auto pool = find_pool(handle);
    return pool ? allocate_ordered(place, bytes, pool, s) : Status::invalid_value;
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaFreeAsync)(void* pointer, void* stream) {
  return on_stream(stream, [&](Stream& s) { return free_ordered(pointer, s); });
}

#ifndef INFLIGHT_PER_THREAD

INFLIGHT_API int cudaDeviceGetDefaultMemPool(void** place, int device) {
  return query([&] { return get_device_pool(place, device, default_pool); });
}

INFLIGHT_API int cudaDeviceGetMemPool(void** place, int device) {
  return entry([&] { return get_device_pool(place, device, current_pool); });
}

INFLIGHT_API int cudaDeviceSetMemPool(int device, void* handle) {
  return entry([&] { return set_device_pool(device, handle); });
}

INFLIGHT_API int cudaMemGetDefaultMemPool(void** place, abi::Location* location, int type) {
  return entry([&] { return get_pool(place, location, type, default_pool); });
}

INFLIGHT_API int cudaMemGetMemPool(void** place, abi::Location* location, int type) {
  return entry([&] { return get_pool(place, location, type, current_pool); });
}

INFLIGHT_API int cudaMemSetMemPool(abi::Location* location, int type, void* handle) {
  return entry([&] { return set_pool(location, type, handle); });
}

INFLIGHT_API int cudaMemPoolCreate(void** place, const abi::PoolProperties* properties) {
  return entry([&] { return make_pool(place, properties); });
}

INFLIGHT_API int cudaMemPoolDestroy(void* handle) { return on_pool(handle, destroy_pool); }

INFLIGHT_API int cudaMemPoolTrimTo(void* handle, std::size_t keep_bytes) {
  return on_pool(handle, [&](const std::shared_ptr<Pool>& pool) {
    pool->trim(keep_bytes);
    return Status::success;
  });
}

INFLIGHT_API int cudaMemPoolGetAttribute(void* handle, int attribute, void* value) {
  return on_pool(handle, [&](const auto& p) { return get_pool_attribute(*p, attribute, value); });
}

INFLIGHT_API int cudaMemPoolSetAttribute(void* handle, int attribute, void* value) {
  return on_pool(handle, [&](const auto& p) { return set_pool_attribute(*p, attribute, value); });
}

INFLIGHT_API int cudaMemPoolSetAccess(void* handle, const abi::AccessDescription* list,
                                      std::size_t count) {
  return on_pool(handle, [&](const auto& p) { return set_pool_access(*p, list, count); });
}

INFLIGHT_API int cudaMemPoolGetAccess(int* flags, void* handle, const abi::Location* location) {
  return on_pool(handle, [&](const auto& p) { return get_pool_access(flags, *p, location); });
}

INFLIGHT_API int cudaMemPoolExportToShareableHandle(void* to, void* handle, int type,
                                                    unsigned flags) {
  return on_pool(handle, [&](const auto& p) { return export_pool(to, *p, type, flags); });
}

INFLIGHT_API int cudaMemPoolImportFromShareableHandle(void** place, void* file, int type,
                                                      unsigned flags) {
  return entry([&] { return import_pool(place, file, type, flags); });
}

INFLIGHT_API int cudaMemPoolExportPointer(SharingHandle* to, void* pointer) {
  return entry([&] { return export_pool_memory(to, pointer); });
}

INFLIGHT_API int cudaMemPoolImportPointer(void** place, void* handle, const SharingHandle* data) {
  return on_pool(handle, [&](const auto& p) { return import_pool_memory(place, p, data); });
}

#endif
