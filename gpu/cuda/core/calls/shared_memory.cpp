// Imported memory: a mapping of the other process's file, adopted as an allocation.
#include "gpu/cuda/core/calls/shared_memory.hpp"

#include <sys/mman.h>

#include <map>
#include <mutex>

#include "gpu/bytes/checked.hpp"
#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/calls/capture_rules.hpp"
#include "gpu/cuda/core/memory/events.hpp"
#include "gpu/cuda/core/memory/mappings.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr unsigned lazy_peer_access = 1;  // cudaIpcMemLazyEnablePeerAccess

struct Imported {
  std::uint64_t system = 0, inode = 0, offset = 0;  // identify the memory
  void* mapped = nullptr;
  std::uint64_t mapped_bytes = 0;
  int device = 0;
  std::uint64_t reach = 0;  // the devices it was opened on
  unsigned opened = 0;
};

struct Imports {
  std::mutex mutex;
  std::map<std::uint64_t, Imported> by_base;
};
Imports& imports() {
  static auto& instance = *new Imports;
  return instance;
}

std::uint64_t bit(int device) { return std::uint64_t{1} << device; }

void end(std::uint64_t base, const Imported& each) {
  Core::get().memory.release(base);
  unmap_when_unused(each.mapped, each.mapped_bytes);
}

}  // namespace

MappedShare map_shared(const SharingHandle& handle, int file) {
  const std::uint64_t begin = handle.offset / page_bytes * page_bytes, skip = handle.offset - begin;
  const auto bytes = round_up(Checked(skip) + handle.bytes, page_bytes).get();
  if (!bytes) return {};
  void* const at = mmap(nullptr, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, off_t(begin));
  if (at == MAP_FAILED) return {};
  return {at, *bytes, address_of(at) + skip};
}

Result<SharingHandle> share_allocation(const machine::Allocation& allocation,
                                       SharingHandle::Kind kind) {
  const auto shared = Core::get().memory.share(allocation.base);
  if (!shared) {
    return fail(Status::out_of_memory,
                "device memory cannot be moved into a file for other processes: the host has no "
                "more memory or descriptors, its limit for files (ulimit -f) is lower than the "
                "device's memory, or the program has closed a descriptor that it did not open.");
  }
  auto handle = sharing_handle(kind, shared->file, Core::get().device(allocation.device).index);
  if (!handle) return handle;
  handle->offset = shared->offset;
  handle->bytes = allocation.size;
  machine::Allocation seen = allocation;  // from now on other processes may write it
  seen.fresh = false;
  observe_memory(seen, true);
  return handle;
}

bool can_export(std::uint64_t address) {
  const auto allocation = Core::get().memory.find(address);
  return allocation && allocation->fresh && allocation->kind == machine::AllocationKind::device &&
         !pool_of(allocation->base);
}

Status export_memory(SharingHandle* to, const void* pointer) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (!to || !can_export(address_of(pointer))) return Status::invalid_value;
  auto handle =
      share_allocation(*Core::get().memory.find(address_of(pointer)), SharingHandle::Kind::memory);
  if (!handle) return report(handle);
  *to = *handle;
  return Status::success;
}

Status import_memory(void** place, const SharingHandle& handle, unsigned flags) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (!place || flags != lazy_peer_access) return Status::invalid_value;
  auto file = open_shared(handle, SharingHandle::Kind::memory);
  if (!file) return report(file);
  const int device = current_device().ordinal;
  const std::lock_guard lock(imports().mutex);
  for (auto& [base, each] : imports().by_base) {
    if (each.system != handle.system || each.inode != handle.inode || each.offset != handle.offset)
      continue;
    ++each.opened;
    each.reach |= bit(device);
    Core::get().memory.set_reach(base, each.reach);
    *place = pointer_to(base);
    return Status::success;
  }
  Imported fresh{handle.system, handle.inode, handle.offset};
  fresh.device = visible_ordinal(handle.device);
  fresh.reach = bit(device) | bit(fresh.device);
  fresh.opened = 1;
  const MappedShare mapping = map_shared(handle, file->fd());
  if (!mapping.at) return Status::map_failed;
  const std::uint64_t base = mapping.memory;
  fresh.mapped = mapping.at, fresh.mapped_bytes = mapping.bytes;
  if (!Core::get().memory.adopt(fresh.device, pointer_to(base), handle.bytes,
                                machine::AllocationKind::device, {}, {.reach = fresh.reach})) {
    munmap(mapping.at, mapping.bytes);
    return Status::map_failed;
  }
  imports().by_base[base] = fresh;
  *place = pointer_to(base);
  return Status::success;
}

Status close_imported(const void* pointer) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  {
    const std::lock_guard lock(imports().mutex);
    if (!imports().by_base.contains(address_of(pointer))) return Status::invalid_value;
  }
  // Waits for all work that may use it.
  for (int i = 0; i < Core::get().device_count(); ++i) Core::get().device(i).synchronize();
  const std::lock_guard lock(imports().mutex);
  const auto it = imports().by_base.find(address_of(pointer));
  if (it == imports().by_base.end()) return Status::invalid_value;
  if (--it->second.opened != 0) return Status::success;
  end(it->first, it->second);
  imports().by_base.erase(it);
  return Status::success;
}

void forget_imported(int device) {
  const std::lock_guard lock(imports().mutex);
  std::erase_if(imports().by_base, [&](const auto& entry) {
    if (entry.second.device == device) end(entry.first, entry.second);
    return entry.second.device == device;
  });
}

}  // namespace inflight::cuda
