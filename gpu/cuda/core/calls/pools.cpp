// Pools by their handles, and allocations as work or as nodes.
#include "gpu/cuda/core/calls/pools.hpp"

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/calls/capture_rules.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/graph/graph_memory.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/report/observer.hpp"

namespace inflight::cuda {
namespace {

// Attributes 1 to 3 are ints, the others 64 bits wide.
constexpr int last_int_attribute = 3;

}  // namespace

Status get_pool(void** place, const abi::Location* location, int allocation_type,
                PoolGetter getter) {
  if (location && location->type == abi::location_here) return Status::not_supported;
  auto where = pool_place(location, allocation_type);
  if (!place || !where) return place ? where.error().status : Status::invalid_value;
  *place = getter(*where).get();
  return Status::success;
}

Status set_pool(const abi::Location* location, int allocation_type, const void* handle) {
  auto where = pool_place(location, allocation_type);
  auto pool = find_pool(handle);
  if (!where || !pool) return where ? Status::invalid_value : where.error().status;
  return set_current_pool(*where, pool);
}

Status make_pool(void** place, const abi::PoolProperties* properties) {
  if (!place || !properties) return Status::invalid_value;
  auto where = pool_place(&properties->location, properties->allocation_type);
  if (!where) return Status::invalid_value;
  const bool managed = where->allocation == abi::allocation_managed;
  const bool shareable = properties->handle_types != 0;
  if (shareable && (managed || where->type == abi::location_host)) return Status::invalid_value;
  if (managed && properties->max_size != 0) return Status::invalid_value;
  *place = Core::get().pools.add(
      std::make_shared<Pool>(*where, false, properties->max_size, properties->handle_types));
  return Status::success;
}

Status get_pool_attribute(const Pool& pool, int which, void* value) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  auto found = pool.attribute(which);
  if (!value || !found) return Status::invalid_value;
  if (which <= last_int_attribute)
    *static_cast<int*>(value) = int(*found);
  else
    *static_cast<std::uint64_t*>(value) = *found;
  return Status::success;
}

Status set_pool_attribute(Pool& pool, int which, const void* value) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (!value) return Status::invalid_value;
  return pool.set_attribute(which, which <= last_int_attribute
                                       ? std::uint64_t(*static_cast<const int*>(value))
                                       : *static_cast<const std::uint64_t*>(value));
}

Status set_pool_access(Pool& pool, const abi::AccessDescription* list, std::size_t count) {
  if (!list && count) return Status::invalid_value;
  Status status = Status::success;
  for (std::size_t i = 0; i < count && status == Status::success; ++i)
    status = pool.set_access(list[i].location, unsigned(list[i].flags));
  return status;
}

Status get_pool_access(int* flags, const Pool& pool, const abi::Location* location) {
  if (!flags || !location) return Status::invalid_value;
  auto from = pool_place(location, abi::allocation_pinned);
  if (!from) return from.error().status;
  *flags = int(pool.access({from->type, from->id}));
  return Status::success;
}

Status allocate_ordered(void** place, std::uint64_t bytes, const std::shared_ptr<Pool>& pool,
                        Stream& stream) {
  if (!place || pool->imported) return Status::invalid_value;
  if (capturing(stream) && bytes != 0) {
    if (abi::is_on_host(pool->place.type)) return Status::not_supported;
    const std::lock_guard lock(graph_mutex());
    auto memory = GraphMemory::make(stream, pool->device, bytes);
    Work node = AllocateWork{memory, memory->address, bytes};
    const Status status = check(node, stream.device());
    if (status != Status::success) return status;
    if (const auto captured = capture_work(stream, node)) {
      if (*captured == Status::success) *place = pointer_to(memory->address);
      return *captured;
    }
  }
  *place = nullptr;
  if (bytes == 0) return Status::success;
  if (Status status = allowed_now(stream); status != Status::success) return status;
  auto address = allocate_from(pool, bytes);
  if (!address) return address.error().status;
  *place = pointer_to(*address);
  return observes(check::Topic::allocations)
             ? submit(stream, AllocateWork{nullptr, *address, bytes})
             : Status::success;
}

Status free_ordered(void* pointer, Stream& stream) {
  if (!pointer) return Status::success;
  const auto address = address_of(pointer);
  if (auto memory = GraphMemory::find(address)) {
    Work node = FreeWork{memory, address};  // keeps `memory` until then
    if (const auto captured = capture_work(stream, node)) return *captured;
    return memory->end() ? submit(stream, std::move(node)) : Status::invalid_value;
  }
  if (capturing(stream)) return Status::invalid_value;  // not of this graph
  if (!claim_free(address)) return Status::invalid_value;
  // The pool's accounting ends at the call, before the stream frees the memory.
  if (auto pool = pool_of(address)) pool->release(address);
  return submit(stream, FreeWork{nullptr, address});
}

}  // namespace inflight::cuda
