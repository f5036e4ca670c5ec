// Memory pools as programs call them, and allocation in stream order.
#pragma once
#include "gpu/cuda/core/memory/pool.hpp"

namespace inflight::cuda {

class Stream;

// Stores a location's pool. `getter` is default_pool or current_pool (invalid_value,
// invalid_device).
using PoolGetter = std::shared_ptr<Pool> (*)(const PoolPlace&);
Status get_pool(void** place, const abi::Location* location, int allocation_type,
                PoolGetter getter);
Status set_pool(const abi::Location* location, int allocation_type, const void* handle);
// The same for a device's memory.
inline Status get_device_pool(void** place, int device, PoolGetter getter) {
  const abi::Location location{abi::location_device, device};
  return get_pool(place, &location, abi::allocation_pinned, getter);
}
inline Status set_device_pool(int device, const void* handle) {
  const abi::Location location{abi::location_device, device};
  return set_pool(&location, abi::allocation_pinned, handle);
}

Status make_pool(void** place, const abi::PoolProperties* properties);
// Attributes as programs pass them: an int or 64 bits.
Status get_pool_attribute(const Pool& pool, int which, void* value);
Status set_pool_attribute(Pool& pool, int which, const void* value);
Status set_pool_access(Pool& pool, const abi::AccessDescription* list, std::size_t count);
Status get_pool_access(int* flags, const Pool& pool, const abi::Location* location);

// Allocate and free in stream order, or as nodes of the graph that the stream captures.
Status allocate_ordered(void** place, std::uint64_t bytes, const std::shared_ptr<Pool>& pool,
                        Stream& stream);
Status free_ordered(void* pointer, Stream& stream);

}  // namespace inflight::cuda
