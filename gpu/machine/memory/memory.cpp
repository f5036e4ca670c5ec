// The allocator behind machine::Memory: reserved ranges, free lists, guard gaps, quarantine.
#include "gpu/machine/memory/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>

namespace inflight::machine {
namespace {

constexpr std::uint64_t granule = 256;  // of sizes and bases; also the least guard gap
constexpr std::uint64_t huge_page = 2 << 20;
constexpr std::uint64_t commit_step = 64 << 20;
constexpr std::uint64_t big = 1 << 20;  // freed or cleared memory this large goes to the host
constexpr std::uint64_t page = 4096;
constexpr std::size_t quarantine_count = 256;  // freed allocations that are still named
constexpr std::uint64_t arena_hint = 0x2000'0000'0000;
constexpr std::uint64_t arena_stride = 1ull << 41;
constexpr std::uint64_t least_arena = 1ull << 30;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}
std::uint64_t block_bytes(std::uint64_t size) { return round_up(size, granule) + granule; }

void* map_reserved(std::uint64_t hint, std::uint64_t bytes) {
  void* at = mmap(reinterpret_cast<void*>(hint), bytes, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

// Hands whole pages inside [base, base+size) back to the host: they read as zero afterwards.
void discard(std::uint64_t base, std::uint64_t size) {
  const std::uint64_t low = round_up(base, page), high = (base + size) / page * page;
  if (low < high) madvise(reinterpret_cast<void*>(low), high - low, MADV_DONTNEED);
}

// No two memories of a process have a generation in common: what is kept by one is not taken for
// another's.
std::uint64_t first_generation() {
  constexpr int bits = 40;  // for those of one memory
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

struct Memory::Arena {
  void* mapped = nullptr;
  std::uint64_t mapped_bytes = 0;
  std::uint64_t base = 0, end = 0;
  std::uint64_t top = 0;                                // everything above was never handed out
  std::uint64_t committed = 0;                          // readable and writable below
  std::map<std::uint64_t, std::uint64_t> free_by_base;  // base to bytes
  std::multimap<std::uint64_t, std::uint64_t> free_by_size;  // bytes to base
  std::uint64_t used = 0, heap_used = 0;

  void reserve(std::uint64_t hint, std::uint64_t bytes) {
    for (; mapped == nullptr && bytes >= least_arena; bytes /= 2) {
      mapped = map_reserved(hint, bytes);
      mapped_bytes = mapped ? bytes : 0;
    }
    base = round_up(reinterpret_cast<std::uint64_t>(mapped), huge_page);
    end = mapped ? reinterpret_cast<std::uint64_t>(mapped) + mapped_bytes : base;
    top = committed = base;
  }

  bool holds(std::uint64_t address) const { return base <= address && address < end; }

  bool commit(std::uint64_t to) {
    if (to <= committed) return true;
    const std::uint64_t upto = std::min(round_up(to - base, commit_step) + base, end);
    void* from = reinterpret_cast<void*>(committed);
    if (mprotect(from, upto - committed, PROT_READ | PROT_WRITE) != 0) return false;
    madvise(from, upto - committed, MADV_HUGEPAGE);
    committed = upto;
    return true;
  }

  void insert_free(std::uint64_t at, std::uint64_t bytes) {
    free_by_base.emplace(at, bytes);
    free_by_size.emplace(bytes, at);
  }
  void erase_free(std::map<std::uint64_t, std::uint64_t>::iterator it) {
    auto [first, last] = free_by_size.equal_range(it->second);
    while (first != last && first->second != it->first) ++first;
    free_by_size.erase(first);
    free_by_base.erase(it);
  }

  void give_back(std::uint64_t at, std::uint64_t bytes) {
    auto next = free_by_base.lower_bound(at);
    if (next != free_by_base.end() && at + bytes == next->first) {
      bytes += next->second;
      erase_free(next++);
    }
    next = free_by_base.lower_bound(at);
    if (next != free_by_base.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == at) {
        at = before->first;
        bytes += before->second;
        erase_free(before);
      }
    }
    insert_free(at, bytes);
  }

  // The best fit among the free ranges; 0 if none is large enough.
  std::uint64_t take_free(std::uint64_t bytes, std::uint64_t alignment) {
    for (auto it = free_by_size.lower_bound(bytes); it != free_by_size.end(); ++it) {
      const std::uint64_t low = it->second, high = low + it->first, at = round_up(low, alignment);
      if (at + bytes > high) continue;
      erase_free(free_by_base.find(low));
      if (at > low) insert_free(low, at - low);
      if (at + bytes < high) insert_free(at + bytes, high - at - bytes);
      return at;
    }
    return 0;
  }

  std::uint64_t take_top(std::uint64_t bytes, std::uint64_t alignment) {
    const std::uint64_t at = round_up(top, alignment);
    if (at > end || bytes > end - at || !commit(at + bytes)) return 0;
    if (at > top) give_back(top, at - top);
    top = at + bytes;
    return at;
  }
};

Memory::Memory(int devices, std::uint64_t capacity, std::uint64_t host_limit)
    : capacity_(capacity), host_share_(host_limit) {
  generation_ = first_generation();
  arenas_.resize(static_cast<std::size_t>(devices) + 1);
  const std::uint64_t wanted = round_up(std::max(2 * capacity, least_arena), huge_page) + huge_page;
  for (std::size_t i = 0; i < arenas_.size(); ++i)
    arenas_[i].reserve(arena_hint + (i + 1) * arena_stride, wanted);
  peers_.assign(devices, std::vector<bool>(devices, false));

  constexpr std::uint64_t window = 1ull << 32;
  window_bytes_ = 6 * window;
  window_base_ = map_reserved(arena_hint, window_bytes_);
  const std::uint64_t first =
      window_base_ ? round_up(reinterpret_cast<std::uint64_t>(window_base_), window) : 1ull << 60;
  windows_ = {first, first + window, first + 2 * window, first + 3 * window};
}

Memory::~Memory() {
  for (Arena& arena : arenas_)
    if (arena.mapped) munmap(arena.mapped, arena.mapped_bytes);
  if (window_base_) munmap(window_base_, window_bytes_);
}

Memory::Arena& Memory::arena_of(int device, AllocationKind kind) {
  return shared_with_all(kind) ? arenas_.back() : arenas_[static_cast<std::size_t>(device)];
}

Memory::Arena* Memory::arena_holding(std::uint64_t address) {
  for (Arena& arena : arenas_)
    if (arena.holds(address)) return &arena;
  return nullptr;
}

tl::expected<std::uint64_t, std::string> Memory::carve(Arena& arena, std::uint64_t size,
                                                       std::uint64_t alignment) {
  const std::uint64_t bytes = block_bytes(size);
  while (size < arena.end - arena.base) {
    if (std::uint64_t at = arena.take_free(bytes, alignment)) return at;
    if (std::uint64_t at = arena.take_top(bytes, alignment)) return at;
    if (freed_order_.empty()) break;
    forget_oldest();
  }
  return tl::unexpected(fmt::format("the host has no room for an allocation of {} bytes", size));
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
        fmt::format("{} bytes are wanted and the heap has {} of {} left", size, left, limit));
  return allocate_locked(device, size, AllocationKind::heap, granule, {});
}

tl::expected<std::uint64_t, std::string> Memory::allocate_locked(int device, std::uint64_t size,
                                                                 AllocationKind kind,
                                                                 std::uint64_t alignment,
                                                                 std::string name) {
  if (size == 0) return 0;
  alignment = std::max(alignment, granule);
  if (device < 0 || device + 1 >= static_cast<int>(arenas_.size()))
    return tl::unexpected(fmt::format("there is no device {}", device));
  if ((alignment & (alignment - 1)) != 0 || alignment > least_arena)
    return tl::unexpected(fmt::format("an alignment of {} bytes is not possible", alignment));
  Arena& arena = arena_of(device, kind);
  if (!shared_with_all(kind) && size > capacity_ - std::min(arena.used, capacity_))
    return tl::unexpected(fmt::format("{} bytes are wanted and device {} has {} of {} left", size,
                                      device, capacity_ - arena.used, capacity_));
  if (!host_share_.take(size))
    return tl::unexpected(fmt::format(
        "{} bytes are wanted, and {} are left of the {} bytes of this host's memory that the "
        "software GPU may take",
        size, host_share_.left(), host_share_.limit()));
  auto at = carve(arena, size, alignment);
  if (!at) {
    host_share_.give_back(size);
    return at;
  }
  arena.used += size;
  if (kind == AllocationKind::heap) arena.heap_used += heap_charge(size);
  const auto padding = static_cast<std::uint32_t>(round_up(size, granule) - size);
  allocations_[*at] = {*at,
                       size,
                       kind,
                       device,
                       kind != AllocationKind::constant,
                       true,
                       next_id_++,
                       std::move(name),
                       padding,
                       true};
  if (hears_) hears_(allocations_[*at], true);
  return at;
}

bool Memory::overlaps_live(std::uint64_t base, std::uint64_t size) const {
  auto next = allocations_.lower_bound(base);
  if (next != allocations_.end() && next->first < base + size) return true;
  return next != allocations_.begin() &&
         std::prev(next)->second.base + std::prev(next)->second.size > base;
}

bool Memory::adopt(int device, const void* host, std::uint64_t size, AllocationKind kind,
                   std::string name, Adopted how) {
  const auto base = reinterpret_cast<std::uint64_t>(host);
  if (size == 0 || base == 0 || base + size < base) return false;
  std::unique_lock lock(mutex_);
  if (overlaps_live(base, size) || arena_holding(base) || arena_holding(base + size - 1))
    return false;
  forget_overlapping(base, size);
  allocations_[base] = {
      base, size, kind, device, how.writable, true, next_id_++, std::move(name), how.padding, false};
  if (hears_) hears_(allocations_[base], true);
  return true;
}

bool Memory::release(std::uint64_t base) {
  std::unique_lock lock(mutex_);
  auto it = allocations_.find(base);
  if (it == allocations_.end()) return false;
  generation_.fetch_add(1, std::memory_order_acq_rel);
  if (hears_) hears_(it->second, false);
  Allocation freed = std::move(it->second);
  allocations_.erase(it);
  freed.live = false;
  if (Arena* arena = arena_holding(base)) {
    arena->used -= freed.size;
    host_share_.give_back(freed.size);
    if (freed.kind == AllocationKind::heap) arena->heap_used -= heap_charge(freed.size);
    if (freed.size >= big) discard(base, block_bytes(freed.size));
  }
  try {
    quarantine(freed);
  } catch (const std::bad_alloc&) {  // destructors release: these addresses are never used again
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
  if (Arena* arena = arena_holding(base)) arena->give_back(base, block_bytes(it->second.size));
  freed_.erase(it);
}

// Only for memory outside the arenas: there a freed range may be adopted anew at any time.
void Memory::forget_overlapping(std::uint64_t base, std::uint64_t size) {
  for (auto it = freed_.begin(); it != freed_.end();) {
    const Allocation& old = it->second;
    const bool overlaps = old.base < base + size && base < old.base + old.size;
    it = overlaps ? freed_.erase(it) : std::next(it);
  }
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

std::optional<Allocation> Memory::nearest(std::uint64_t address) const {
  const auto distance = [address](const Allocation& a) -> std::uint64_t {
    if (address < a.base) return a.base - address;
    return address < a.base + a.size ? 0 : address - (a.base + a.size) + 1;
  };
  std::shared_lock lock(mutex_);
  const Allocation* best = nullptr;
  const auto offer = [&](const auto& map) {
    auto next = map.upper_bound(address);
    auto better = [&](const Allocation& a) { return !best || distance(a) < distance(*best); };
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
      a->device == device || shared_with_all(a->kind) ||
      peers_[static_cast<std::size_t>(device)][static_cast<std::size_t>(a->device)];
  return reachable ? Extent{a->base, a->base + a->size, a->writable} : Extent{};
}

std::uint64_t Memory::padded_end(std::uint64_t address) const {
  std::shared_lock lock(mutex_);
  const Allocation* a = live_at(address);
  return a ? a->base + a->size + a->padding : 0;
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
  auto* bytes = reinterpret_cast<std::byte*>(base);
  if (a->size < big) {
    std::memset(bytes, 0, a->size);
    return;
  }
  const std::uint64_t low = round_up(base, page), high = (base + a->size) / page * page;
  std::memset(bytes, 0, low - base);
  std::memset(reinterpret_cast<std::byte*>(high), 0, base + a->size - high);
  discard(base, a->size);
}

}  // namespace inflight::machine
