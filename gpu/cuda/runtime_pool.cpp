// Memory pools, and allocation in stream order.
#include "gpu/cuda/observer.hpp"
#include "gpu/cuda/pool.hpp"
#include "gpu/cuda/runtime_entry.hpp"

using namespace inflight::cuda;

namespace {

Result<std::shared_ptr<Pool>> pool_on(int device) {
  if (!device_exists(device)) return fail(Status::invalid_device);
  Pool* chosen = Core::get().device(device).pool;
  if (auto pool = chosen ? Core::get().pools.find(chosen) : nullptr) return pool;
  return Pool::of_device(device);
}

Status allocate(void** place, std::size_t bytes, const std::shared_ptr<Pool>& pool,
                Stream& stream) {
  if (!place) return Status::invalid_value;
  if (capturing(stream)) {
    auto memory = GraphMemory::make(pool->device, bytes);
    Status status = submit(stream, AllocateWork{memory});
    if (status == Status::success) *place = reinterpret_cast<void*>(memory->address);
    return status;
  }
  if (Status status = allowed_now(stream); status != Status::success) return status;
  *place = nullptr;
  if (bytes == 0) return Status::success;
  auto address = pool->allocate(bytes);
  if (!address) return address.error().status;
  *place = reinterpret_cast<void*>(*address);
  observe_allocation(inflight::check::Allocation::Step::made,
                     inflight::check::Allocation::Kind::pool, pool->device, *address, bytes,
                     &stream);
  return Status::success;
}

Status release(void* pointer, Stream& stream) {
  if (!pointer) return Status::success;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (auto memory = GraphMemory::find(address)) {
    if (!capturing(stream)) memory->live = false;
    return submit(stream, FreeWork{memory, address});
  }
  if (capturing(stream)) return Status::invalid_value;  // not of this graph
  if (!claim_free(address)) return Status::invalid_value;
  observe_allocation(inflight::check::Allocation::Step::released,
                     inflight::check::Allocation::Kind::pool, stream.device().ordinal, address, 0,
                     &stream);
  return submit(stream, FreeWork{nullptr, address});
}

#ifndef INFLIGHT_PER_THREAD

// For calls about one pool: body(shared_ptr<Pool>).
template <class Body>
int on_pool(const void* handle, Body body) {
  return entry([&]() -> Status {
    auto pool = Core::get().pools.find(handle);
    return pool ? as_status(body(pool)) : Status::invalid_value;
  });
}

Status answer_pool(void** place, const Result<std::shared_ptr<Pool>>& pool) {
  if (!place) return Status::invalid_value;
  if (!pool) return pool.error().status;
  *place = pool->get();
  return Status::success;
}

// Attributes 1 to 3 are ints, the others 64 bits wide.
constexpr int last_int_attribute = 3;

#endif

}  // namespace

INFLIGHT_API int INFLIGHT_STREAMED(cudaMallocAsync)(void** place, std::size_t bytes, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    auto pool = pool_on(s.device().ordinal);
    return pool ? allocate(place, bytes, *pool, s) : pool.error().status;
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaMallocFromPoolAsync)(void** place, std::size_t bytes,
                                                            void* handle, void* stream) {
  return on_stream(stream, [&](Stream& s) {
    auto pool = Core::get().pools.find(handle);
    return pool ? allocate(place, bytes, pool, s) : Status::invalid_value;
  });
}

INFLIGHT_API int INFLIGHT_STREAMED(cudaFreeAsync)(void* pointer, void* stream) {
  return on_stream(stream, [&](Stream& s) { return release(pointer, s); });
}

#ifndef INFLIGHT_PER_THREAD

INFLIGHT_API int cudaDeviceGetDefaultMemPool(void** place, int device) {
  return entry([&] {
    if (!device_exists(device)) return Status::invalid_device;
    return answer_pool(place, Pool::of_device(device));
  });
}

INFLIGHT_API int cudaDeviceGetMemPool(void** place, int device) {
  return entry([&] { return answer_pool(place, pool_on(device)); });
}

INFLIGHT_API int cudaDeviceSetMemPool(int device, void* handle) {
  return on_pool(handle, [&](const std::shared_ptr<Pool>& pool) {
    if (!device_exists(device)) return Status::invalid_device;
    if (pool->device != device) return Status::invalid_value;
    Core::get().device(device).pool = pool.get();
    return Status::success;
  });
}

INFLIGHT_API int cudaMemPoolCreate(void** place, const abi::PoolProperties* properties) {
  return entry([&] {
    if (!place || !properties || properties->allocation_type != 1) return Status::invalid_value;
    if (properties->location.type != abi::location_device) {
      say_once("pool location", "memory pools outside of devices are not supported.");
      return Status::not_supported;
    }
    if (properties->handle_types != 0)
      say_once("pool handles", "memory pools cannot be shared with other processes.");
    if (!device_exists(properties->location.id)) return Status::invalid_device;
    auto pool = std::make_shared<Pool>(properties->location.id, false, properties->max_size);
    *place = Core::get().pools.add(std::move(pool));
    return Status::success;
  });
}

INFLIGHT_API int cudaMemPoolDestroy(void* handle) {
  return on_pool(handle, [&](const std::shared_ptr<Pool>& pool) {
    if (pool->is_default) return Status::invalid_value;
    Pool* mine = pool.get();
    Core::get().device(pool->device).pool.compare_exchange_strong(mine, nullptr);
    Core::get().pools.remove(handle);
    return Status::success;
  });
}

INFLIGHT_API int cudaMemPoolTrimTo(void* handle, std::size_t keep_bytes) {
  return on_pool(handle, [&](const std::shared_ptr<Pool>& pool) {
    pool->trim(keep_bytes);
    return Status::success;
  });
}

INFLIGHT_API int cudaMemPoolGetAttribute(void* handle, int attribute, void* value) {
  return on_pool(handle, [&](const std::shared_ptr<Pool>& pool) {
    auto found = pool->attribute(attribute);
    if (!value || !found) return Status::invalid_value;
    if (attribute <= last_int_attribute)
      *static_cast<int*>(value) = int(*found);
    else
      *static_cast<std::uint64_t*>(value) = *found;
    return Status::success;
  });
}

INFLIGHT_API int cudaMemPoolSetAttribute(void* handle, int attribute, void* value) {
  return on_pool(handle, [&](const std::shared_ptr<Pool>& pool) {
    if (!value) return Status::invalid_value;
    return pool->set_attribute(attribute, attribute <= last_int_attribute
                                              ? std::uint64_t(*static_cast<int*>(value))
                                              : *static_cast<std::uint64_t*>(value));
  });
}

INFLIGHT_API int cudaMemPoolSetAccess(void* handle, const abi::AccessDescription* list,
                                      std::size_t count) {
  return on_pool(handle, [&](const std::shared_ptr<Pool>& pool) {
    if (!list && count) return Status::invalid_value;
    for (std::size_t i = 0; i < count; ++i) {
      if (list[i].location.type != abi::location_device) return Status::invalid_value;
      Status status = pool->set_access(list[i].location.id, unsigned(list[i].flags));
      if (status != Status::success) return status;
    }
    return Status::success;
  });
}

INFLIGHT_API int cudaMemPoolGetAccess(int* flags, void* handle, const abi::Location* location) {
  return on_pool(handle, [&](const std::shared_ptr<Pool>& pool) {
    if (!flags || !location || location->type != abi::location_device) return Status::invalid_value;
    if (!device_exists(location->id)) return Status::invalid_device;
    *flags = int(pool->access(location->id));
    return Status::success;
  });
}

// The pool of a location; only devices have one here.
namespace {
Status device_of(const abi::Location* location, int allocation_type, int& device) {
  constexpr int pinned = 1;
  if (!location || allocation_type != pinned) return Status::invalid_value;
  if (location->type != abi::location_device) {
    say_once("pool location", "memory pools outside of devices are not supported.");
    return Status::not_supported;
  }
  device = location->id;
  return device_exists(device) ? Status::success : Status::invalid_device;
}
}  // namespace

INFLIGHT_API int cudaMemGetDefaultMemPool(void** place, abi::Location* location, int type) {
  int device = 0;
  const Status status = device_of(location, type, device);
  return status == Status::success ? cudaDeviceGetDefaultMemPool(place, device) : record(status);
}

INFLIGHT_API int cudaMemGetMemPool(void** place, abi::Location* location, int type) {
  int device = 0;
  const Status status = device_of(location, type, device);
  return status == Status::success ? cudaDeviceGetMemPool(place, device) : record(status);
}

INFLIGHT_API int cudaMemSetMemPool(abi::Location* location, int type, void* pool) {
  int device = 0;
  const Status status = device_of(location, type, device);
  return status == Status::success ? cudaDeviceSetMemPool(device, pool) : record(status);
}

#endif
