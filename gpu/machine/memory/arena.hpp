// One range of addresses for allocations: its free parts, and the pages that lie in a file which
// other processes can map.
#pragma once
#include <cstdint>
#include <map>

#include "gpu/bytes/range.hpp"
#include "gpu/host/own_descriptor.hpp"
#include "gpu/machine/memory/memory.hpp"

namespace inflight::machine {

constexpr std::uint64_t page_bytes = 4096, huge_page_bytes = 2 << 20;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

// Bytes of an arena. They never wrap, because the host has mapped the arena.
inline ByteRange part(std::uint64_t base, std::uint64_t bytes) {
  return ByteRange::of(base, bytes).value_or(ByteRange());
}

// Reserves addresses that nothing else gets. Null on failure.
void* map_reserved(std::uint64_t hint, std::uint64_t bytes);

struct Memory::Arena {
  static constexpr std::uint64_t granule = 256;  // of sizes and bases; also the least guard gap
  static constexpr std::uint64_t least = 1ull << 30;  // bytes
  // Bytes that an allocation of `size` bytes takes, with the gap after it.
  static std::uint64_t block_bytes(std::uint64_t size) { return round_up(size, granule) + granule; }

  Arena() = default;
  Arena(Arena&&) noexcept;
  ~Arena();

  void* mapped = nullptr;
  std::uint64_t mapped_bytes = 0;
  std::uint64_t base = 0, end = 0;
  std::uint64_t top = 0;                                     // everything above was never allocated
  std::uint64_t committed = 0;                               // everything below has pages
  std::map<std::uint64_t, std::uint64_t> free_by_base;       // base to bytes
  std::multimap<std::uint64_t, std::uint64_t> free_by_size;  // bytes to base
  std::uint64_t used = 0, heap_used = 0;
  host::OwnDescriptor file;                       // created when pages are first shared
  std::map<std::uint64_t, std::uint64_t> shared;  // pages in the file: base to end

  // The pages are accessible at any time, or, if they are a device's, as `view` has it.
  void reserve(std::uint64_t hint, std::uint64_t bytes);
  void belongs_to(HostView& view, std::size_t device);
  ByteRange range() const { return ByteRange::between(base, end).value_or(ByteRange()); }
  bool holds(std::uint64_t address) const { return range().contains(address); }
  // Return 0 if there is no room.
  std::uint64_t take_free(std::uint64_t bytes, std::uint64_t alignment);
  std::uint64_t take_top(std::uint64_t bytes, std::uint64_t alignment);
  void give_back(std::uint64_t at, std::uint64_t bytes);
  // Returns whole pages inside [low, low + bytes) to the host. They read as zero afterwards.
  void discard(std::uint64_t low, std::uint64_t bytes) const;
  // Moves the pages of these bytes into the file. False: the host refused, or the program has
  // closed the file.
  bool share(std::uint64_t low, std::uint64_t bytes);

 private:
  HostView* view_ = nullptr;
  std::size_t device_ = 0;
  bool commit(std::uint64_t to);
  void insert_free(std::uint64_t at, std::uint64_t bytes);
  void erase_free(std::map<std::uint64_t, std::uint64_t>::iterator it);
  // Calls visit(low, high, is_shared) for the pieces of a range of pages.
  template <class Visit>
  bool for_pieces(std::uint64_t low, std::uint64_t high, Visit visit) const;
};

}  // namespace inflight::machine
