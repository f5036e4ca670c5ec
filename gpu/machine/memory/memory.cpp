// Allocations: the live ones, their ranges, who may access them, and those freed recently.
#include "gpu/machine/memory/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "gpu/host/mapping.hpp"
#include "gpu/machine/memory/arena.hpp"
#include "gpu/machine/memory/ranges.hpp"

namespace inflight::machine {
namespace {

constexpr std::uint64_t big = 1 << 20;  // freed or cleared memory this large goes back to the host
constexpr std::size_t quarantine_count = 256;  // freed allocations kept for messages
constexpr std::uint64_t arena_hint = 0x2000'0000'0000;
constexpr std::uint64_t arena_stride = 1ull << 41;

// No two memories of a process share a generation, so a cached extent of one is never taken for
// another's.
std::uint64_t first_generation() {
  constexpr int bits = 40;  // for the generations of one memory
  static std::atomic<std::uint64_t> memories{0};
  return ++memories << bits;
}

bool shared_with_all(AllocationKind kind) {
  return kind == AllocationKind::host || kind == AllocationKind::managed;
}

}  // namespace

std::string_view spelling(AllocationKind kind) {
  static constexpr std::string_view names[] = {"device",   "managed",  "host",
                                               "variable", "constant", "heap"};
  return names[static_cast<unsigned>(kind)];
}

Memory::Memory(int devices, std::uint64_t capacity, std::uint64_t host_limit)
    : host_view_(static_cast<std::size_t>(devices)), capacity_(capacity), host_share_(host_limit) {
  generation_ = first_generation();
  arenas_.resize(static_cast<std::size_t>(devices) + 1);
  const std::uint64_t wanted =
      round_up(std::max(2 * capacity, Arena::least), huge_page_bytes) + huge_page_bytes;
  for (std::size_t i = 0; i < arenas_.size(); ++i)
    arenas_[i].reserve(arena_hint + (i + 1) * arena_stride, wanted);
  for (std::size_t i = 0; i + 1 < arenas_.size(); ++i) arenas_[i].belongs_to(host_view_, i);
  peers_.assign(devices, std::vector<bool>(devices, false));

  constexpr std::uint64_t window = 1ull << 32;
  window_bytes_ = 6 * window;
  window_base_ = map_reserved(arena_hint, window_bytes_);
  const std::uint64_t first =
      window_base_ ? round_up(reinterpret_cast<std::uint64_t>(window_base_), window) : 1ull << 60;
  windows_ = {first, first + window, first + 2 * window, first + 3 * window};
}

Memory::~Memory() {
  if (window_base_) munmap(window_base_, window_bytes_);
}

Memory::Arena& Memory::arena_of(int device, AllocationKind kind) {
  return shared_with_all(kind) ? arenas_.back() : arenas_[static_cast<std::size_t>(device)];
}

const Memory::Arena* Memory::arena_holding(std::uint64_t address) const {
  for (const Arena& arena : arenas_)
    if (arena.holds(address)) return &arena;
  return nullptr;
}
Memory::Arena* Memory::arena_holding(std::uint64_t address) {
  return const_cast<Arena*>(std::as_const(*this).arena_holding(address));
}

tl::expected<std::uint64_t, std::string> Memory::carve(Arena& arena, std::uint64_t size,
                                                       std::uint64_t alignment) {
  const std::uint64_t bytes = Arena::block_bytes(size);
  while (size < arena.end - arena.base) {
    if (std::uint64_t at = arena.take_free(bytes, alignment)) return at;
    if (std::uint64_t at = arena.take_top(bytes, alignment)) return at;
    if (freed_order_.empty()) break;
    forget_oldest();
  }
  return tl::unexpected(fmt::format("the host has no free address range of {} bytes", size));
}

tl::expected<std::uint64_t, std::string> Memory::allocate(int device, std::uint64_t size,
                                                          AllocationKind kind,
                                                          std::uint64_t alignment,
                                                          std::string name) {
  std::unique_lock lock(mutex_);
  return allocate_locked(device, size, kind, alignment, std::move(name));
}

tl::expected<std::uint64_t, std::string> Memory::allocate_heap(int device, std::uint64_t size,
                                                               std::uint64_t limit) {
  std::unique_lock lock(mutex_);
  const std::uint64_t used = arenas_[static_cast<std::size_t>(device)].heap_used;
  const std::uint64_t left = limit - std::min(used, limit);
  if (size > left || heap_charge(size) > left)
    return tl::unexpected(
        fmt::format("{} bytes requested; the heap has {} of {} bytes free", size, left, limit));
  return allocate_locked(device, size, AllocationKind::heap, Arena::granule, {});
}

tl::expected<std::uint64_t, std::string> Memory::allocate_locked(int device, std::uint64_t size,
                                                                 AllocationKind kind,
                                                                 std::uint64_t alignment,
                                                                 std::string name) {
  if (size == 0) return 0;
  alignment = std::max(alignment, Arena::granule);
  if (device < 0 || device + 1 >= static_cast<int>(arenas_.size()))
    return tl::unexpected(fmt::format("there is no device {}", device));
  if ((alignment & (alignment - 1)) != 0 || alignment > Arena::least)
    return tl::unexpected(fmt::format("an alignment of {} bytes is not possible", alignment));
  Arena& arena = arena_of(device, kind);
  if (!shared_with_all(kind) && size > capacity_ - std::min(arena.used, capacity_))
    return tl::unexpected(fmt::format("{} bytes requested; device {} has {} of {} bytes free", size,
                                      device, capacity_ - arena.used, capacity_));
  if (!host_share_.take(size))
    return tl::unexpected(
        fmt::format("{} bytes requested; {} of the {} bytes of this host's memory that the "
                    "software GPU may use are free",
                    size, host_share_.left(), host_share_.limit()));
  auto at = carve(arena, size, alignment);
  if (!at) {
    host_share_.give_back(size);
    return at;
  }
  arena.used += size;
  if (kind == AllocationKind::heap) arena.heap_used += heap_charge(size);
  const auto padding = static_cast<std::uint32_t>(round_up(size, Arena::granule) - size);
  allocations_[*at] = {*at,     size, kind, device, true, true, next_id_++, std::move(name),
                       padding, true};
  if (observer_) observer_(allocations_[*at], true);
  return at;
}

bool Memory::overlaps_live(std::uint64_t base, std::uint64_t size) const {
  const ByteRange range = ByteRange::of(base, size).value_or(ByteRange());
  const auto next = allocations_.lower_bound(base);
  if (next != allocations_.end() && range.contains(next->first)) return true;
  return next != allocations_.begin() && range_of(std::prev(next)->second).overlaps(range);
}

bool Memory::adopt(int device, const void* host, std::uint64_t size, AllocationKind kind,
                   std::string name, Adopted how) {
  std::unique_lock lock(mutex_);
  return adopt_locked({device, host, size, kind, how}, std::move(name));
}

void Memory::replace(std::span<const std::uint64_t> ended, std::span<const Adoption> begun) {
  std::unique_lock lock(mutex_);
  for (const std::uint64_t base : ended) release_locked(base);
  for (const Adoption& each : begun) adopt_locked(each, {});
}

bool Memory::adopt_locked(const Adoption& what, std::string name) {
  const auto base = reinterpret_cast<std::uint64_t>(what.base);
  const std::uint64_t size = what.size;
  const auto range = ByteRange::of(base, size);
  if (!range || range->empty() || base == 0) return false;
  const auto touches = [&](const Arena& arena) { return arena.range().overlaps(*range); };
  if (overlaps_live(base, size) || std::any_of(arenas_.begin(), arenas_.end(), touches))
    return false;
  forget_overlapping(base, size);
  const Adopted& how = what.how;
  allocations_[base] = {base,         size,  what.kind,  what.device,
                        how.writable, true,  next_id_++, std::move(name),
                        how.padding,  false, how.reach};
  if (observer_) observer_(allocations_[base], true);
  return true;
}

std::optional<Memory::Shared> Memory::share(std::uint64_t base) {
  std::unique_lock lock(mutex_);
  const Allocation* a = live_at(base);
  Arena* arena = a ? arena_holding(base) : nullptr;
  const HostView::Access access(host_view_);
  if (!arena || !arena->share(a->base, a->size)) return std::nullopt;
  return Shared{arena->file.fd(), base - arena->base};
}

void Memory::set_reach(std::uint64_t base, std::uint64_t reach) {
  std::unique_lock lock(mutex_);
  if (auto it = allocations_.find(base); it != allocations_.end()) it->second.reach = reach;
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

bool Memory::release(std::uint64_t base) {
  std::unique_lock lock(mutex_);
  return release_locked(base);
}

bool Memory::release_locked(std::uint64_t base) {
  auto it = allocations_.find(base);
  if (it == allocations_.end()) return false;
  generation_.fetch_add(1, std::memory_order_acq_rel);
  if (observer_) observer_(it->second, false);
  Allocation freed = std::move(it->second);
  allocations_.erase(it);
  freed.live = false;
  if (Arena* arena = arena_holding(base)) {
    arena->used -= freed.size;
    host_share_.give_back(freed.size);
    if (freed.kind == AllocationKind::heap) arena->heap_used -= heap_charge(freed.size);
    if (freed.size >= big) {
      const HostView::Access access(host_view_);  // Linux removes no pages from a closed file
      arena->discard(base, Arena::block_bytes(freed.size));
    }
  }
  try {
    quarantine(freed);
  } catch (const std::bad_alloc&) {  // destructors must not throw: the addresses are never reused
  }
  return true;
}

void Memory::quarantine(const Allocation& freed) {
  freed_[freed.base] = freed;
  freed_order_.emplace_back(freed.base, freed.id);
  while (freed_order_.size() > quarantine_count) forget_oldest();
}

void Memory::forget_oldest() {
  const auto [base, id] = freed_order_.front();
  freed_order_.pop_front();
  auto it = freed_.find(base);
  if (it == freed_.end() || it->second.id != id) return;
  if (Arena* arena = arena_holding(base))
    arena->give_back(base, Arena::block_bytes(it->second.size));
  freed_.erase(it);
}

// Only for memory outside the arenas, where a freed range may be adopted again at any time.
void Memory::forget_overlapping(std::uint64_t base, std::uint64_t size) {
  const ByteRange range = ByteRange::of(base, size).value_or(ByteRange());
  std::erase_if(freed_, [&](const auto& old) { return range_of(old.second).overlaps(range); });
}

const Allocation* Memory::live_at(std::uint64_t address) const {
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return nullptr;
  const Allocation& a = std::prev(next)->second;
  return address - a.base < a.size ? &a : nullptr;
}

std::optional<Allocation> Memory::find(std::uint64_t address) const {
  std::shared_lock lock(mutex_);
  const Allocation* a = live_at(address);
  return a ? std::optional(*a) : std::nullopt;
}

std::string Memory::host_place(std::uint64_t address) const {
  {
    std::shared_lock lock(mutex_);
    // An access past the end of registered memory is told by its distance from that.
    constexpr std::uint64_t close = 1 << 20;
    if (arena_holding(address) || live_at(address)) return {};
    const auto freed = freed_.upper_bound(address);
    if (freed != freed_.begin() && range_of(std::prev(freed)->second).contains(address)) return {};
    const auto next = allocations_.upper_bound(address);
    if (next != allocations_.begin() && address - range_of(std::prev(next)->second).end() < close)
      return {};
  }
  return host::place_of(address);
}

std::optional<Allocation> Memory::nearest(std::uint64_t address) const {
  constexpr std::uint64_t reach_of_an_index = std::uint64_t{16} << 32;
  const auto distance = [address](const Allocation& a) -> std::uint64_t {
    const ByteRange range = range_of(a);
    if (address < range.base()) return range.base() - address;
    return range.contains(address) ? 0 : address - range.end() + 1;
  };
  std::shared_lock lock(mutex_);
  const Allocation* best = nullptr;
  const auto offer = [&](const auto& map) {
    auto next = map.upper_bound(address);
    auto better = [&](const Allocation& a) {
      const std::uint64_t apart = distance(a);
      return apart <= (a.live ? reach_of_an_index : a.size) && (!best || apart < distance(*best));
    };
    if (next != map.begin() && better(std::prev(next)->second)) best = &std::prev(next)->second;
    if (next != map.end() && better(next->second)) best = &next->second;
  };
  offer(allocations_);
  offer(freed_);
  return best ? std::optional(*best) : std::nullopt;
}

std::vector<Allocation> Memory::live() const {
  std::shared_lock lock(mutex_);
  std::vector<Allocation> all;
  for (const auto& entry : allocations_) all.push_back(entry.second);
  return all;
}

Extent Memory::extent(int device, std::uint64_t address) const {
  std::shared_lock lock(mutex_);
  const Allocation* a = live_at(address);
  if (!a) return {};
  const bool reachable =
      a->reach ? a->reach >> device & 1
               : a->device == device || shared_with_all(a->kind) ||
                     peers_[static_cast<std::size_t>(device)][static_cast<std::size_t>(a->device)];
  return reachable ? Extent{a->base, range_of(*a).end(), a->writable} : Extent{};
}

std::uint64_t Memory::padded_end(std::uint64_t address) const {
  std::shared_lock lock(mutex_);
  const Allocation* a = live_at(address);
  return a ? padded_range_of(*a).end() : 0;
}

void Memory::set_peer_access(int from, int to, bool enabled) {
  std::unique_lock lock(mutex_);
  peers_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] = enabled;
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

bool Memory::peer_access(int from, int to) const {
  std::shared_lock lock(mutex_);
  return peers_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
}

std::uint64_t Memory::used(int device) const {
  std::shared_lock lock(mutex_);
  return arenas_[static_cast<std::size_t>(device)].used;
}

std::uint64_t Memory::heap_used(int device) const {
  std::shared_lock lock(mutex_);
  return arenas_[static_cast<std::size_t>(device)].heap_used;
}

void Memory::clear(std::uint64_t base) {
  std::shared_lock lock(mutex_);
  const Allocation* a = live_at(base);
  if (!a || a->base != base) return;
  const HostView::Access access(host_view_);
  auto* bytes = reinterpret_cast<std::byte*>(base);
  const Arena* const arena = arena_holding(base);
  if (!arena || a->size < big) {
    std::memset(bytes, 0, a->size);
    return;
  }
  const std::uint64_t end = range_of(*a).end(), low = round_up(base, page_bytes),
                      high = end / page_bytes * page_bytes;
  std::memset(bytes, 0, low - base);
  std::memset(reinterpret_cast<std::byte*>(high), 0, end - high);
  arena->discard(base, a->size);
}

}  // namespace inflight::machine
