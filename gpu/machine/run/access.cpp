// Resolves addresses to bytes on the host.
#include "gpu/machine/run/access.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "gpu/machine/run/each_lane.hpp"
#include "gpu/machine/run/in_flight.hpp"

namespace inflight::machine {
namespace {

bool holds(const Extent& e, std::uint64_t address, std::uint32_t size, bool writing) {
  return address >= e.low && address < e.high && e.high - address >= size &&
         (!writing || e.writable);
}

std::byte* parameter_place(const Warp& w, std::uint64_t offset, std::uint32_t size) {
  if (offset + size > w.block->grid->launch->kernel->parameter_bytes) return nullptr;
  return const_cast<std::byte*>(w.block->grid->parameters) + offset;
}

// Calls move(byte, i) for each byte of an access to local memory.
template <class Move>
void each_local_byte(Warp& w, int lane, std::uint64_t offset, std::uint32_t size, Move move) {
  for (std::uint32_t i = 0; i < size; ++i)
    move(w.local_byte(lane, static_cast<std::uint32_t>(offset + i)), i);
}

// Sets `offset` to the place in local memory of a generic address. False if it is not local or out
// of bounds.
bool local_place(const Warp& w, std::uint64_t address, std::uint32_t size, std::uint64_t& offset) {
  return in_window(address, w.block->grid->memory->windows().local, Windows::local_size, offset) &&
         offset + size <= local_bytes(w);
}

// A thread is about to write to an allocation, possibly for the first time in its launch. From here
// on, copies in flight from it are watched.
void note_writing(Warp& w, const Extent& e) {
  if (!w.block->grid->written.mark(e.low)) return;
  if (InFlight* const of = w.block->cluster->in_flight.get()) of->ledger.watch(e.low, e.high);
}

// Memory::extent takes a lock that all workers share. So each thread caches the last results, for
// all ops that access an allocation and for the next launch.
Extent look_up(const Grid& grid, std::uint64_t address, std::uint64_t generation) {
  struct Recent {
    Extent extent;
    std::uint64_t generation = 0;
    int device = 0;
  };
  thread_local std::array<Recent, 4> known;
  thread_local unsigned oldest = 0;
  for (const Recent& r : known)
    if (r.generation == generation && r.device == grid.device && holds(r.extent, address, 1, false))
      return r.extent;
  const Extent e = grid.memory->extent(grid.device, address);
  if (e.high != 0) known[oldest++ % known.size()] = {e, generation, grid.device};
  return e;
}

}  // namespace

ptx::Space space_of(const Warp& w, std::uint64_t address) {
  const Windows& at = w.block->grid->memory->windows();
  std::uint64_t offset = 0;
  if (in_window(address, at.shared, at.shared_size, offset)) return ptx::Space::shared;
  if (in_window(address, at.local, at.local_size, offset)) return ptx::Space::local;
  if (in_window(address, at.param, at.param_size, offset)) return ptx::Space::param;
  return ptx::Space::global;
}

std::byte* resolve_generic(Warp& w, std::uint64_t address, std::uint32_t size, bool writing,
                           std::string* why) {
  const Grid& grid = *w.block->grid;
  const Windows& at = grid.memory->windows();
  std::byte* place = nullptr;
  std::uint64_t offset = 0;
  if (in_window(address, at.shared, at.shared_size, offset)) {
    place = resolve_shared(w, offset, size);
  } else if (in_window(address, at.param, at.param_size, offset)) {
    if (!writing) place = parameter_place(w, offset, size);
  } else if (!in_window(address, at.local, at.local_size, offset)) {
    const Extent e = grid.memory->extent(grid.device, address);
    if (holds(e, address, size, writing)) place = reinterpret_cast<std::byte*>(address);
    if (place && writing) note_writing(w, e);
  }
  if (!place && why) *why = describe_address(w, address);
  return place;
}

bool read_generic(Warp& w, int lane, std::uint64_t address, void* out, std::uint32_t size) {
  if (size == 0) return true;
  auto* to = static_cast<char*>(out);
  if (std::uint64_t offset = 0; local_place(w, address, size, offset)) {
    each_local_byte(w, lane, offset, size, [&](const char* p, std::uint32_t i) { to[i] = *p; });
    return true;
  }
  const std::byte* from = resolve_generic(w, address, size, false);
  if (from) std::memcpy(out, from, size);
  return from != nullptr;
}

bool write_generic(Warp& w, int lane, std::uint64_t address, const void* in, std::uint32_t size) {
  if (size == 0) return true;
  auto* from = static_cast<const char*>(in);
  if (std::uint64_t offset = 0; local_place(w, address, size, offset)) {
    each_local_byte(w, lane, offset, size, [&](char* p, std::uint32_t i) { *p = from[i]; });
    return true;
  }
  std::byte* to = resolve_generic(w, address, size, true);
  if (to) std::memcpy(to, in, size);
  return to != nullptr;
}

namespace {

// Finds the extent around `address` and caches it for `op`. False if it does not contain the bytes.
[[gnu::noinline]] bool find_extent(Warp& w, const Op* op, std::uint64_t address, std::uint32_t size,
                                   bool writing) {
  const Grid& grid = *w.block->grid;
  const std::uint64_t now = grid.memory->generation();
  const Extent e = look_up(grid, address, now);
  if (!holds(e, address, size, writing)) return false;
  ++w.worker->lookups;
  if (writing) note_writing(w, e);
  w.worker->keep(op, e, writing, now);
  return true;
}

// Separate from the lookup, so that it is inlined in loops over lanes.
[[gnu::always_inline]] inline bool holds_global(Warp& w, const Op* op, std::uint64_t address,
                                                std::uint32_t size, bool writing) {
  if (w.worker->cached(op).holds(address, address, size, writing, *w.block->grid->memory))
      [[likely]]
    return true;
  return find_extent(w, op, address, size, writing);
}

}  // namespace

std::byte* resolve_global(Warp& w, const Op* op, std::uint64_t address, std::uint32_t size,
                          bool writing) {
  return holds_global(w, op, address, size, writing) ? reinterpret_cast<std::byte*>(address)
                                                     : nullptr;
}

BadLanes check_global(Warp& w, const Op* op, std::uint32_t mask, const std::uint64_t* addresses,
                      std::uint32_t size, bool writing) {
  std::uint32_t misaligned = 0, outside = 0;
  for (std::uint32_t m = mask; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    if (addresses[l] % size)
      misaligned |= 1u << l;
    else if (!holds_global(w, op, addresses[l], size, writing))
      outside |= 1u << l;
  }
  if (misaligned) return {misaligned, FaultKind::misaligned_address};
  return {outside, outside ? FaultKind::illegal_address : FaultKind::none};
}

BadLanes check_source(Warp& w, const Op* op, std::uint32_t mask, const std::uint64_t* addresses,
                      const std::uint32_t* bytes, std::uint32_t alignment) {
  std::uint32_t misaligned = 0, outside = 0;
  for (std::uint32_t m = mask; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    if (addresses[l] % alignment)
      misaligned |= 1u << l;
    else if (!holds_global(w, op, addresses[l], bytes[l], false))
      outside |= 1u << l;
  }
  if (misaligned) return {misaligned, FaultKind::misaligned_address};
  return {outside, outside ? FaultKind::illegal_address : FaultKind::none};
}

bool SourceWatch::needed() const {
  if (warp_.worker->lookups != lookups_) return true;  // sources may be in several allocations
  return warp_.block->grid->written.test(warp_.worker->cached(op_).low);
}

namespace {

// Finds global addresses that are all aligned and in one allocation. Otherwise returns false.
bool resolve_near(Warp& w, const Op* op, std::uint32_t mask, const std::uint64_t* addresses,
                  std::uint32_t size, std::uint32_t alignment, bool writing, LanePlaces& out) {
  std::uint64_t low = ~std::uint64_t{0}, high = 0, bits = 0;
  each_lane(mask, [&](int l) {
    const std::uint64_t at = addresses[l];
    low = std::min(low, at), high = std::max(high, at), bits |= at;
    out.at[l] = reinterpret_cast<std::byte*>(at);
  });
  out.shared = 0;
  return (bits & (alignment - 1)) == 0 && high - low < INT32_MAX &&
         resolve_global(w, op, low, static_cast<std::uint32_t>(high - low) + size, writing);
}

BadLanes resolve_aligned(Warp& w, const Op* op, std::uint32_t mask, ptx::Space space,
                         const std::uint64_t* addresses, std::uint32_t size,
                         std::uint32_t alignment, bool writing, LanePlaces& out) {
  if (space == ptx::Space::global &&
      resolve_near(w, op, mask, addresses, size, alignment, writing, out))
    return {};
  const Windows& at = w.block->grid->memory->windows();
  const bool shared = is_shared(space), own_only = shared && space != ptx::Space::shared_cluster;
  std::uint32_t misaligned = 0, outside = 0, nowhere = 0;
  FaultKind why = FaultKind::illegal_address;
  out.shared = 0;
  for (std::uint32_t m = mask; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const std::uint32_t bit = 1u << l;
    std::uint64_t offset = addresses[l];
    if (addresses[l] & (alignment - 1)) {
      misaligned |= bit;
    } else if (shared || (space == ptx::Space::generic &&
                          in_window(addresses[l], at.shared, at.shared_size, offset))) {
      out.at[l] = resolve_shared(w, offset, size, own_only);
      out.shared |= bit;
      if (out.at[l]) continue;
      if (!outside) why = shared_fault(*w.block, offset, size, own_only);
      outside |= bit;
    } else if (space == ptx::Space::generic &&
               (in_window(addresses[l], at.local, at.local_size, offset) ||
                in_window(addresses[l], at.param, at.param_size, offset))) {
      nowhere |= bit;
    } else {
      out.at[l] = resolve_global(w, op, addresses[l], size, writing);
      if (!out.at[l]) outside |= bit;
    }
  }
  if (misaligned) return {misaligned, FaultKind::misaligned_address};
  if (nowhere) return {nowhere, FaultKind::invalid_address_space};
  return {outside, outside ? why : FaultKind::none};
}

}  // namespace

BadLanes resolve_lanes(Warp& w, const Op* op, std::uint32_t mask, ptx::Space space,
                       const std::uint64_t* addresses, std::uint32_t size, bool writing,
                       LanePlaces& out) {
  return resolve_aligned(w, op, mask, space, addresses, size, size, writing, out);
}

BadLanes resolve_parts(Warp& w, const Op* op, std::uint32_t mask, ptx::Space space,
                       const std::uint64_t* addresses, std::uint32_t size, std::uint32_t alignment,
                       bool writing, LanePlaces& out) {
  return resolve_aligned(w, op, mask, space, addresses, size, alignment, writing, out);
}

}  // namespace inflight::machine
