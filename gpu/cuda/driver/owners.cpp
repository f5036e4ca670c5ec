// Driver API: the contexts that own memory.
#include "gpu/cuda/driver/owners.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/calls/allocation.hpp"

namespace inflight::cuda::driver {
namespace {

// Memory without an entry belongs to the primary context. The allocation's id tells it from a later
// one at the same address.
struct Owner {
  std::uint64_t allocation = 0;  // its id
  ContextRef context;
};
struct Owners {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Owner> by_base;
  std::size_t enough = 1024;  // entries, until those of freed memory are removed
};
Owners& owners() {
  static Owners all;
  return all;
}

bool exists(std::uint64_t base, const Owner& owner) {
  const auto found = Core::get().memory.find(base);
  return found && found->id == owner.allocation;
}

}  // namespace

void note_owner(std::uint64_t base) {
  Context* const context = current_context();
  if (!context || context->primary) return;
  const auto found = Core::get().memory.find(base);
  if (!found) return;
  Owners& all = owners();
  const std::lock_guard lock(all.mutex);
  all.by_base[base] = {found->id, ContextRef(context)};
  if (all.by_base.size() < all.enough) return;
  std::erase_if(all.by_base, [](const auto& each) { return !exists(each.first, each.second); });
  all.enough = std::max<std::size_t>(1024, 2 * all.by_base.size());
}

void free_memory_of(const Context& context) {
  std::vector<std::uint64_t> bases;
  {
    Owners& all = owners();
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.by_base, [&](const auto& each) {
      const auto& [base, owner] = each;
      const bool its = owner.context == &context;
      if (its && exists(base, owner)) bases.push_back(base);
      return its;
    });
  }
  for (const std::uint64_t base : bases) {
    void* const memory = pointer_to(base);
    if (free_pinned(memory) != Status::success) free_memory(memory);
  }
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
