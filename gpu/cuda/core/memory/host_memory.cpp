// Pinned host memory.
#include "gpu/cuda/core/memory/host_memory.hpp"

#include <sys/mman.h>

#include <map>
#include <shared_mutex>

#include "gpu/bytes/range.hpp"
#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/memory/host_limits.hpp"
#include "gpu/cuda/core/memory/mappings.hpp"
#include "gpu/cuda/core/memory/registered_faults.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {
namespace {

constexpr std::uint64_t page_bytes = 4096;

struct Blocks {
  std::shared_mutex mutex;
  std::map<std::uint64_t, HostBlock> by_base;
};

Blocks& blocks() {
  static Blocks& instance = *new Blocks;
  return instance;
}

constexpr unsigned read_only = 0x8;  // cudaHostRegisterReadOnly

void end(const HostBlock& block) {
  Core::get().memory.release(block.base);
  if (block.registered) return forget_faults(block.base);
  unmap_when_unused(pointer_to(block.base), block.bytes);
  Core::get().memory.host_share().give_back(block.bytes);
}

// Removes the block at `base` from the table if its kind matches `registered`.
std::optional<HostBlock> take(void* base, bool registered) {
  std::unique_lock lock(blocks().mutex);
  auto it = blocks().by_base.find(address_of(base));
  if (it == blocks().by_base.end() || it->second.registered != registered) return std::nullopt;
  HostBlock block = it->second;
  blocks().by_base.erase(it);
  return block;
}

void keep(const HostBlock& block) {
  std::unique_lock lock(blocks().mutex);
  blocks().by_base[block.base] = block;
}

}  // namespace

Result<void*> allocate_host(const Device& device, std::uint64_t bytes, unsigned flags) {
  if (bytes == 0) return nullptr;
  if (!Core::get().take_host_share(bytes)) return fail(Status::out_of_memory);
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    Core::get().memory.host_share().give_back(bytes);
    return fail(Status::out_of_memory);
  }
  const auto to_page_end = static_cast<std::uint32_t>(-bytes % page_bytes);
  Core::get().memory.adopt(device.ordinal, base, bytes, machine::AllocationKind::host, {},
                           {.padding = to_page_end});
  keep({address_of(base), bytes, flags, false, device.ordinal});
  return base;
}

Status free_host(void* base) {
  auto block = take(base, false);
  if (!block) return Status::invalid_value;
  end(*block);
  return Status::success;
}

Status register_host(const Device& device, void* base, std::uint64_t bytes, unsigned flags) {
  if (!base || bytes == 0 || !ByteRange::of(address_of(base), bytes)) return Status::invalid_value;
  if (bytes > host_memory()) return Status::out_of_memory;
  const Mapped range = mapped(base, bytes);
  if (!range.all || (!range.writable && !(flags & read_only))) return Status::invalid_value;
  if (!Core::get().memory.adopt(device.ordinal, base, bytes, machine::AllocationKind::host, {},
                                {.writable = range.writable}))
    return Status::host_memory_already_registered;
  expect_faults(address_of(base), bytes);
  keep({address_of(base), bytes, flags, true, device.ordinal});
  return Status::success;
}

Status unregister_host(void* base) {
  if (!base) return Status::invalid_value;
  auto block = take(base, true);
  if (!block) {
    const auto around = host_block(base);  // as on an H200: the pointer must be the block's start
    const bool within = around && around->registered;
    return within ? Status::invalid_value : Status::host_memory_not_registered;
  }
  end(*block);
  wait_for_pending_work();  // of which some may have begun before the release
  return Status::success;
}

std::optional<HostBlock> host_block(const void* address) {
  std::shared_lock lock(blocks().mutex);
  auto it = blocks().by_base.upper_bound(address_of(address));
  if (it == blocks().by_base.begin()) return std::nullopt;
  const HostBlock& block = std::prev(it)->second;
  if (address_of(address) - block.base >= block.bytes) return std::nullopt;
  return block;
}

void release_host_memory(int device) {
  std::vector<HostBlock> ended;
  {
    std::unique_lock lock(blocks().mutex);
    std::erase_if(blocks().by_base, [&](const auto& entry) {
      if (entry.second.device == device) ended.push_back(entry.second);
      return entry.second.device == device;
    });
  }
  for (const HostBlock& block : ended) end(block);
}

}  // namespace inflight::cuda
