// An exported pool is a file whose name says where the pool lies. Its allocations are shared like
// other memory.
#include "gpu/cuda/core/calls/shared_pools.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/calls/shared_memory.hpp"
#include "gpu/cuda/core/memory/mappings.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/host/shared_file.hpp"

namespace inflight::cuda {
namespace {

constexpr int handle_file = 1;  // cudaMemHandleTypePosixFileDescriptor
// Begins with host::pool_file. The device's index on the machine, and the pool's origin.
constexpr const char* name_format = "inflight pool at device %d of process %d number %llu";

}  // namespace

Status export_pool(void* to, const Pool& pool, int handle_type, unsigned long long flags) {
  if (!to || flags || handle_type != handle_file || !(pool.handle_types & handle_file))
    return Status::invalid_value;
  if (pool.place.type != abi::location_device) {
    report_once("host pool", "host memory pools cannot be shared with other processes.");
    return Status::not_supported;
  }
  char name[128];
  const int index = Core::get().device(pool.device).index;
  std::snprintf(name, sizeof name, name_format, index, int(getpid()), pool.number);
  const auto file = host::make_shared_file(name, 0);
  const int given = file.owns() ? fcntl(file.fd(), F_DUPFD_CLOEXEC, 0) : -1;
  if (given < 0) return Status::out_of_memory;
  *static_cast<int*>(to) = given;
  return Status::success;
}

Status import_pool(void** place, const void* file, int handle_type, unsigned long long flags) {
  if (!place || flags || handle_type != handle_file) return Status::invalid_value;
  const auto facts = host::shared_file(int(address_of(file)), host::pool_file);
  if (!facts) {
    report_once("pool file",
                "the file from which a memory pool was to be made " + facts.error() + ".");
    return Status::invalid_value;
  }
  int index = 0;
  Pool::Origin origin;
  if (std::sscanf(facts->name.c_str(), name_format, &index, &origin.process, &origin.number) != 3)
    return Status::invalid_value;
  auto pool = std::make_shared<Pool>(device_place(visible_ordinal(index)), false);
  pool->imported = origin;
  *place = Core::get().pools.add(std::move(pool));
  return Status::success;
}

Status export_pool_memory(SharingHandle* to, const void* pointer) {
  const auto allocation = Core::get().memory.find(address_of(pointer));
  if (!to || !allocation || allocation->base != address_of(pointer)) return Status::invalid_value;
  const auto pool = pool_of(allocation->base);
  if (!pool || !(pool->handle_types & handle_file)) return Status::invalid_value;
  auto handle = share_allocation(*allocation, SharingHandle::Kind::pool_memory);
  if (!handle) return report(handle);
  *to = *handle;
  to->pool = pool->number;
  return Status::success;
}

Status import_pool_memory(void** place, const std::shared_ptr<Pool>& pool,
                          const SharingHandle* handle) {
  if (!place || !handle || pool->imported != Pool::Origin{handle->process, handle->pool})
    return Status::invalid_value;
  auto file = open_shared(*handle, SharingHandle::Kind::pool_memory);
  if (!file) return report(file);
  const MappedShare mapping = map_shared(*handle, file->fd());
  if (!mapping.at) return Status::map_failed;
  if (!Core::get().memory.adopt(pool->device, pointer_to(mapping.memory), handle->bytes,
                                machine::AllocationKind::device)) {
    munmap(mapping.at, mapping.bytes);
    return Status::map_failed;
  }
  adopt_into(pool, mapping.memory, [mapping] { unmap_when_unused(mapping.at, mapping.bytes); });
  *place = pointer_to(mapping.memory);
  return Status::success;
}

}  // namespace inflight::cuda
