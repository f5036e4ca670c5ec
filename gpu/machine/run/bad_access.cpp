// Fault reports for addresses that cannot be accessed.
#include <fmt/format.h>

#include <bit>

#include "gpu/machine/memory/arena.hpp"
#include "gpu/machine/memory/ranges.hpp"
#include "gpu/machine/run/access.hpp"

namespace inflight::machine {
namespace {

std::string distance(std::uint64_t address, const Allocation& a) {
  if (address < a.base) return fmt::format("{} bytes before the start of", a.base - address);
  if (const ByteRange range = range_of(a); address >= range.end())
    return fmt::format("{} bytes past the end of", address - range.end());
  return fmt::format("{} bytes into", address - a.base);
}

std::string describe_allocation(const Allocation& a) {
  std::string what = a.name.empty()
                         ? fmt::format("the {}-byte {} allocation", a.size, spelling(a.kind))
                         : fmt::format("'{}' ({} bytes, {})", a.name, a.size, spelling(a.kind));
  return fmt::format("{} at 0x{:x}{}", what, a.base, a.live ? "" : ", which was freed");
}

// Describes a global address by the allocation there or nearest to it.
std::string describe_global(const Warp& w, std::uint64_t address) {
  if (address < 4096) return fmt::format("0x{:x} is a null pointer", address);
  const Memory& memory = *w.block->grid->memory;
  if (memory.multicasts().contains(address))
    return fmt::format("0x{:x} is an address of a multicast object, {}", address,
                       memory.multicasts().span(address).places.empty()
                           ? "to which not every device has bound memory there"
                           : "which only multimem instructions, stores and bulk stores may use: "
                             "PTX does not define any other access");
  if (const std::string place = memory.host_place(address); !place.empty())
    return fmt::format(
        "0x{:x} is {}, where kernels cannot access it; allocate with cudaMalloc, and copy there "
        "with cudaMemcpy, or with cudaMallocManaged",
        address, place);
  const auto a = memory.nearest(address);
  if (!a) return fmt::format("0x{:x} is in no allocation, nor near one", address);
  std::string text =
      fmt::format("0x{:x} is {} {}", address, distance(address, *a), describe_allocation(*a));
  const int device = w.block->grid->device;
  const bool inside = address >= a->base && address - a->base < a->size;
  if (inside && a->live && a->device != device && !memory.peer_access(device, a->device))
    text += fmt::format(" of device {}, to which device {} has no peer access", a->device, device);
  else if (inside && a->live && !a->writable)
    text += ", which kernels cannot write";
  return text;
}

std::string describe_offset(std::string_view space, std::uint64_t offset, std::uint64_t size) {
  if (size == 0) return fmt::format("offset 0x{:x} is past the 0 bytes of {}", offset, space);
  if (offset >= size)
    return fmt::format("offset 0x{:x} is {} bytes past the end of the {} bytes of {}", offset,
                       offset - size, size, space);
  return fmt::format("offset 0x{:x} is in the {} bytes of {}", offset, size, space);
}

std::string describe_shared_of(const Block& b, std::string_view whose, std::uint64_t offset) {
  if (offset < reserved_shared)
    return fmt::format(
        "offset 0x{:x} is in the {} bytes before the shared memory of {}, which CUDA reserves",
        offset, reserved_shared, whose);
  return describe_offset(fmt::format("shared memory of {}", whose), offset - reserved_shared,
                         b.shared_end - reserved_shared);
}

std::string describe_shared(const Warp& w, std::uint64_t address, bool own_only) {
  const Block& self = *w.block;
  const SharedPlace place = shared_place(self, address);
  const std::uint64_t rank = address >> rank_shift;
  if (self.cluster->blocks.size() == 1) return describe_shared_of(self, "this block", address);
  if (place.block == &self) return describe_shared_of(self, "this block", place.offset);
  if (!place.block)
    return fmt::format("it addresses block rank {}, but the cluster has only {} blocks", rank,
                       self.cluster->blocks.size());
  if (own_only)
    return fmt::format(
        "it addresses block rank {}, but the instruction accesses only its own block's shared "
        "memory (.shared::cta): use .shared::cluster",
        rank);
  if (place.block->left)
    return fmt::format(
        "the block of rank {} has ended: a block must not end before the last use of its shared "
        "memory (barrier.cluster, cluster.sync())",
        rank);
  return describe_shared_of(*place.block, fmt::format("the block of rank {}", rank), place.offset);
}

std::string describe_in(const Warp& w, std::uint64_t address, ptx::Space space) {
  using ptx::Space;
  switch (space) {
    case Space::shared:
    case Space::shared_cta:
    case Space::shared_cluster:
      return describe_shared(w, address, space != Space::shared_cluster);
    case Space::local:
      return describe_offset("local memory of this thread", address, local_bytes(w));
    case Space::param:
      return describe_offset("parameters of this kernel", address,
                             w.block->grid->launch->kernel->parameter_bytes);
    case Space::generic:
      return describe_address(w, address);
    default:
      return describe_global(w, address);
  }
}

std::string_view space_name(ptx::Space space) {
  using ptx::Space;
  switch (space) {
    case Space::shared:
    case Space::shared_cta:
    case Space::shared_cluster:
      return "shared";
    case Space::local:
      return "local";
    case Space::param:
      return "parameter";
    case Space::generic:
      return "generic";
    case Space::constant:
      return "constant";
    default:
      return "global";
  }
}

}  // namespace

std::string describe_address(const Warp& w, std::uint64_t address) {
  const Windows& at = w.block->grid->memory->windows();
  std::uint64_t offset = 0;
  if (in_window(address, at.shared, at.shared_size, offset))
    return describe_in(w, offset, ptx::Space::shared_cluster);
  if (in_window(address, at.local, at.local_size, offset))
    return describe_in(w, offset, ptx::Space::local);
  if (in_window(address, at.param, at.param_size, offset))
    return describe_in(w, offset, ptx::Space::param);
  if (in_window(address, at.code, at.code_size, offset))
    return fmt::format("0x{:x} is the address of a function, not of data", address);
  return describe_global(w, address);
}

std::uint64_t slack_for(const Warp& w, const FaultDetail& access) {
  constexpr std::uint64_t least = 512;
  if (access.space != ptx::Space::global && access.space != ptx::Space::generic) return 0;
  const auto a = w.block->grid->memory->nearest(access.address);
  const auto accessed = ByteRange::of(access.address, access.bytes);
  if (!a || !a->live || a->kind != AllocationKind::device || !accessed ||
      accessed->base() < range_of(*a).end())
    return 0;
  for (std::uint64_t slack = least; slack <= huge_page_bytes; slack *= 2)
    if (accessed->end() <= a->base + round_up(a->size, slack)) return slack;
  return 0;
}

const Op* bad_access(Warp& w, const Op* op, std::uint32_t bad, const std::uint64_t* addresses,
                     std::uint32_t size, bool writing, ptx::Space space, FaultKind kind) {
  const std::uint64_t address = addresses[std::countr_zero(bad)];
  std::string what = fmt::format("a {}-byte {} {} memory at 0x{:x} ", size,
                                 writing ? "write to" : "read from", space_name(space), address);
  if (kind == FaultKind::misaligned_address)
    what += fmt::format("is misaligned: its address must be a multiple of {}", size);
  else if (kind == FaultKind::invalid_address_space)
    what += fmt::format("is not allowed in this state space: {}", describe_in(w, address, space));
  else
    what += fmt::format("is out of bounds: {}", describe_in(w, address, space));
  if (const int others = std::popcount(bad) - 1; others > 0)
    what += fmt::format(" ({} more threads of the warp fail likewise)", others);
  FaultDetail about;
  about.access = true, about.writes = writing;
  about.space = space;
  about.address = address, about.bytes = size, about.alignment = size;
  return w.fault(op, kind, bad, std::move(what), about);
}

}  // namespace inflight::machine
