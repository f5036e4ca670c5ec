// Driver API: the contexts that own memory.
#include "gpu/cuda/driver/owners.hpp"

#include <mutex>
#include <unordered_map>

namespace inflight::cuda::driver {
namespace {

// Memory without an entry belongs to the primary context. The allocation's id tells it from a later
// one at the same address.
struct Owner {
  std::uint64_t allocation = 0;  // its id
  Context* context = nullptr;
};
struct Owners {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Owner> by_base;
};
Owners& owners() {
  static Owners all;
  return all;
}

}  // namespace

void note_owner(std::uint64_t base) {
  Context* const context = current_context();
  if (!context || context->primary) return;
  const auto found = Core::get().memory.find(base);
  if (!found) return;
  Owners& all = owners();
  const std::lock_guard lock(all.mutex);
  all.by_base[base] = {found->id, context};
}

Context* owner_of(const machine::Allocation& allocation) {
  Owners& all = owners();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_base.find(allocation.base);
  return found != all.by_base.end() && found->second.allocation == allocation.id
             ? found->second.context
             : &Core::get().primary(allocation.device);
}

}  // namespace inflight::cuda::driver
