// The memory and the contexts that are set to synchronise always.
#include "gpu/cuda/core/memory/synchronous.hpp"

#include <mutex>
#include <unordered_map>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {
namespace {

constexpr unsigned sync_memops_flag = 0x80;  // of devices and contexts

// The allocation's id tells it from a later one at the same address.
struct SyncMemops {
  std::uint64_t allocation = 0;
  bool always = false;
};
struct AllSyncMemops {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, SyncMemops> by_base;
};
AllSyncMemops& all_sync_memops() {
  static AllSyncMemops& all = *new AllSyncMemops;
  return all;
}

bool flagged(const Context* context) {
  if (!context) return false;
  const bool shared = context->primary || context->green;
  return ((shared ? context->device->flags.load() : context->flags) & sync_memops_flag) != 0;
}

}  // namespace

Status set_always_synchronous(std::uint64_t inside, bool always) {
  const auto found = Core::get().memory.find(inside);
  if (!found) return Status::invalid_value;
  {
    AllSyncMemops& all = all_sync_memops();
    const std::lock_guard lock(all.mutex);
    all.by_base[found->base] = {found->id, always};
  }
  if (!always) return Status::success;
  Device& device = Core::get().device(found->device);
  device.legacy()->last().wait();
  return device.fault();
}

bool always_synchronous(const machine::Allocation& allocation) {
  AllSyncMemops& all = all_sync_memops();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_base.find(allocation.base);
  return found != all.by_base.end() && found->second.allocation == allocation.id
             ? found->second.always
             : allocation.kind == machine::AllocationKind::managed;
}

bool always_synchronous(const void* memory) {
  if (flagged(current_context())) return true;
  const auto found = Core::get().memory.find(address_of(memory));
  return found && always_synchronous(*found);
}

}  // namespace inflight::cuda
