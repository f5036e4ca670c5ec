// Driver API: memory pools, and allocation from them in stream order.
#include "gpu/cuda/core/memory/pool.hpp"

#include "gpu/cuda/core/calls/pools.hpp"
#include "gpu/cuda/core/calls/shared_pools.hpp"
#include "gpu/cuda/driver/entry.hpp"

namespace inflight::cuda::driver {
namespace {

// Calls body(shared_ptr<Pool>) with the pool of a handle.
template <class Body>
Status with_pool(Handle handle, Body&& body) {
  auto pool = find_pool(handle);
  return pool ? body(pool) : Status::invalid_value;
}

Status allocate(DevicePointer* to, std::size_t bytes, const std::shared_ptr<Pool>& pool,
                Stream& stream) {
  void* made = nullptr;
  if (!to) return Status::invalid_value;
  Status status = allocate_ordered(&made, bytes, pool, stream);
  if (status == Status::success) *to = address(made);
  return status;
}

}  // namespace

INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemAllocAsync, cuMemAllocAsync_ptsz,
                   (DevicePointer * to, std::size_t bytes, Handle stream), {
                     return with_stream(stream, second, [&](Stream& s) {
                       auto pool = current_pool(device_place(s.device().ordinal));
                       return allocate(to, bytes, pool, s);
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz,
                   (DevicePointer * to, std::size_t bytes, Handle handle, Handle stream), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return with_pool(handle, [&](const std::shared_ptr<Pool>& pool) {
                         return allocate(to, bytes, pool, s);
                       });
                     });
                   })
INFLIGHT_CU_TWO_AT(of_stream(stream), cuMemFreeAsync, cuMemFreeAsync_ptsz,
                   (DevicePointer memory, Handle stream), {
                     return with_stream(stream, second, [&](Stream& s) {
                       return free_ordered(pointer(memory), s);
                     });
                   })

// --- which pool ---

INFLIGHT_CU_INIT(cuDeviceGetDefaultMemPool, (Handle * pool, int device),
                 { return get_device_pool(pool, device, default_pool); })
INFLIGHT_CU_INIT(cuDeviceGetMemPool, (Handle * pool, int device),
                 { return get_device_pool(pool, device, current_pool); })
INFLIGHT_CU_INIT(cuDeviceSetMemPool, (int device, Handle pool),
                 { return set_device_pool(device, pool); })
INFLIGHT_CU_INIT(cuMemGetDefaultMemPool, (Handle * pool, const abi::Location* location, int type),
                 { return get_pool(pool, location, type, default_pool); })
INFLIGHT_CU_INIT(cuMemGetMemPool, (Handle * pool, const abi::Location* location, int type),
                 { return get_pool(pool, location, type, current_pool); })
INFLIGHT_CU_INIT(cuMemSetMemPool, (const abi::Location* location, int type, Handle pool),
                 { return set_pool(location, type, pool); })

// --- pools as objects ---

INFLIGHT_CU_INIT(cuMemPoolCreate, (Handle * pool, const abi::PoolProperties* properties),
                 { return make_pool(pool, properties); })
INFLIGHT_CU_INIT(cuMemPoolDestroy, (Handle handle), { return with_pool(handle, destroy_pool); })
INFLIGHT_CU_INIT(cuMemPoolTrimTo, (Handle handle, std::size_t bytes), {
  return with_pool(handle, [&](const auto& pool) {
    pool->trim(bytes);
    return Status::success;
  });
})
INFLIGHT_CU_INIT(cuMemPoolGetAttribute, (Handle handle, int attribute, void* value), {
  return with_pool(handle, [&](const auto& p) { return get_pool_attribute(*p, attribute, value); });
})
INFLIGHT_CU_INIT(cuMemPoolSetAttribute, (Handle handle, int attribute, void* value), {
  return with_pool(handle, [&](const auto& p) { return set_pool_attribute(*p, attribute, value); });
})
INFLIGHT_CU_INIT(cuMemPoolSetAccess,
                 (Handle handle, const abi::AccessDescription* list, std::size_t count), {
                   return with_pool(
                       handle, [&](const auto& p) { return set_pool_access(*p, list, count); });
                 })
INFLIGHT_CU_INIT(cuMemPoolGetAccess, (int* flags, Handle handle, const abi::Location* location), {
  return with_pool(handle, [&](const auto& p) { return get_pool_access(flags, *p, location); });
})

// --- pools of other processes ---

INFLIGHT_CU_INIT(cuMemPoolExportToShareableHandle,
                 (void* to, Handle handle, int type, unsigned long long flags), {
                   return with_pool(
                       handle, [&](const auto& p) { return export_pool(to, *p, type, flags); });
                 })
INFLIGHT_CU_INIT(cuMemPoolImportFromShareableHandle,
                 (Handle * pool, void* file, int type, unsigned long long flags),
                 { return import_pool(pool, file, type, flags); })
INFLIGHT_CU_AT(of_memory(memory), cuMemPoolExportPointer,
               (SharingHandle * to, DevicePointer memory),
               { return export_pool_memory(to, pointer(memory)); })
INFLIGHT_CU_INIT(cuMemPoolImportPointer,
                 (DevicePointer * to, Handle handle, const SharingHandle* data), {
                   return with_pool(handle, [&](const auto& p) {
                     void* made = nullptr;
                     const Status status =
                         to ? import_pool_memory(&made, p, data) : Status::invalid_value;
                     if (status == Status::success) *to = address(made);
                     return status;
                   });
                 })

}  // namespace inflight::cuda::driver
