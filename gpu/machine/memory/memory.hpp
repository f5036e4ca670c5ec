// The memory that kernels may access: allocations in one address space shared by host and devices.
//
// A global address is a host address. Device memory comes from one reserved range, with guard gaps
// between allocations, so that an access past the end never lands in a neighbour. Pinned,
// registered and managed host memory is adopted as an allocation of its own. Everything else is out
// of bounds.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "gpu/machine/memory/host_share.hpp"
#include "gpu/machine/memory/host_view.hpp"
#include "gpu/machine/memory/multicast.hpp"

namespace inflight::machine {

enum class AllocationKind : std::uint8_t {
  device,    // cudaMalloc and relatives
  managed,   // cudaMallocManaged, __managed__
  host,      // pinned or registered host memory
  variable,  // a module's .global variable
  constant,  // a module's .const variable
  heap,      // malloc() called by a kernel
};
std::string_view spelling(AllocationKind);

struct Allocation {
  std::uint64_t base = 0, size = 0;  // bytes
  AllocationKind kind = AllocationKind::device;
  int device = 0;             // owner; host memory: the current device at its creation
  bool writable = true;       // to kernels
  bool live = true;           // false once freed (kept for a while, to report stale pointers)
  std::uint64_t id = 0;       // counts up from 1 over the process
  std::string name;           // a variable's name, or empty
  std::uint32_t padding = 0;  // bytes after it that belong to nobody else
  bool fresh = false;         // not adopted: its bytes were unspecified at first
  // The devices that may access it, one bit each; 0: its own and the devices with peer access to
  // that.
  std::uint64_t reach = 0;
};

// Bytes that an allocation takes of a device's heap: its size in units of 16, and a header.
constexpr std::uint64_t heap_charge(std::uint64_t size) {
  constexpr std::uint64_t unit = 16, header = 64;
  return (size / unit + (size % unit != 0)) * unit + header;
}

// The addresses [low, high) that one check covers.
struct Extent {
  std::uint64_t low = 0, high = 0;
  bool writable = false;
};

// The windows of generic addresses for the other state spaces. They are reserved from the host, so
// no global address is in them.
struct Windows {
  std::uint64_t shared = 0;  // own block's shared memory, from this address on
  std::uint64_t local = 0;   // the executing thread's local memory
  std::uint64_t param = 0;   // the kernel's parameters
  std::uint64_t code = 0;    // addresses of functions; never readable
  static constexpr std::uint64_t shared_size = 1ull << 32;
  static constexpr std::uint64_t local_size = 1ull << 32;
  static constexpr std::uint64_t param_size = 1ull << 16;
  static constexpr std::uint64_t code_size = 1ull << 32;
};

class [[gnu::visibility("default")]] Memory {
 public:
  // One address space for `devices` devices with `capacity` bytes of memory each, which together
  // may take `host_limit` bytes of the host's memory.
  Memory(int devices, std::uint64_t capacity, std::uint64_t host_limit = ~std::uint64_t{0});
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Returns the base address (aligned to `alignment`, at least 256), or the error if `size` exceeds
  // what is left of the device's capacity or of the host's memory. The bytes are zero when fresh
  // and unspecified when reused, as on a GPU. A size of 0 gives address 0.
  tl::expected<std::uint64_t, std::string> allocate(
      int device, std::uint64_t size, AllocationKind kind, std::uint64_t alignment = 256,
      std::string name = {});
  // For malloc() in a kernel. Also an error if the device's heap would hold more than `limit`
  // bytes, counted by heap_charge().
  tl::expected<std::uint64_t, std::string> allocate_heap(int device, std::uint64_t size,
                                                         std::uint64_t limit);
  // Makes [base, base+size) of the host's own memory accessible to kernels. False if it overlaps a
  // live allocation or is empty.
  struct Adopted {
    std::uint32_t padding = 0;  // bytes after it that belong to nobody else
    bool writable = true;       // to kernels; false if the host cannot write it
    std::uint64_t reach = 0;    // as Allocation::reach
  };
  bool adopt(int device, const void* base, std::uint64_t size, AllocationKind kind,
             std::string name, Adopted how);
  bool adopt(int device, const void* base, std::uint64_t size, AllocationKind kind) {
    return adopt(device, base, size, kind, {}, {});
  }
  // Frees the allocation that starts at `base`. False if no live one does.
  bool release(std::uint64_t base);
  // Releases the allocations at `ended` and adopts `begun` in one step, because kernels may be
  // using bytes that are in both.
  struct Adoption {
    int device = 0;
    const void* base = nullptr;
    std::uint64_t size = 0;
    AllocationKind kind = AllocationKind::device;
    Adopted how;
  };
  void replace(std::span<const std::uint64_t> ended, std::span<const Adoption> begun);

  // Shares the allocation at `base`: moves its pages into a file, with everything else in them,
  // where other processes can map them. They stay there. `base` may be any address in the
  // allocation, and `offset` is for it.
  struct Shared {
    int file = -1;  // owned by the memory
    std::uint64_t offset = 0;
  };
  std::optional<Shared> share(std::uint64_t base);
  // Changes the reach of adopted memory.
  void set_reach(std::uint64_t base, std::uint64_t reach);

  // `observer` is called for every allocation after its creation and at its release, in order, from
  // any thread. It must not call this memory. Set it before the first allocation.
  using AllocationObserver = std::function<void(const Allocation&, bool made)>;
  void observe(AllocationObserver observer) { observer_ = std::move(observer); }

  // The live allocation that holds `address`, if any.
  std::optional<Allocation> find(std::uint64_t address) const;
  // The allocation that holds `address` or is closest to it, for messages. A live one within reach
  // of an index of 32 bits; a freed one no further away than it was long.
  std::optional<Allocation> nearest(std::uint64_t address) const;
  // For messages: where in the host's own memory the address is, in the words of host/mapping.
  // Empty if it is not there, or just past the end of an allocation.
  std::string host_place(std::uint64_t address) const;
  std::vector<Allocation> live() const;

  // The range around `address` that `device` may access; empty if none.
  Extent extent(int device, std::uint64_t address) const;
  // The end of the live allocation that holds `address`, with its padding; 0 if there is none.
  std::uint64_t padded_end(std::uint64_t address) const;
  // Changes with every release, change of reach and peer change, which make cached extents stale.
  // (A new allocation does not: empty extents are never cached.)
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  // Where it is, for code that is made while the program runs.
  const std::atomic<std::uint64_t>& generation_word() const { return generation_; }

  void set_peer_access(int from, int to, bool enabled);
  bool peer_access(int from, int to) const;

  std::uint64_t capacity() const { return capacity_; }
  // The share that allocate() takes from. Also for other memory that kernels reach.
  HostShare& host_share() { return host_share_; }
  // Whether host code can access what the devices' arenas hold: not managed and adopted memory.
  HostView& host_view() { return host_view_; }
  // Most bytes that a device can still allocate.
  std::uint64_t available(int device) const {
    return std::min(capacity_ - std::min(used(device), capacity_), host_share_.left());
  }
  std::uint64_t used(int device) const;       // bytes in the device's live allocations
  std::uint64_t heap_used(int device) const;  // by malloc() in kernels, counted by heap_charge()
  // Zeroes a live allocation. Pages of large ones go back to the host until they are accessed.
  void clear(std::uint64_t base);
  const Windows& windows() const { return windows_; }
  MulticastRanges& multicasts() { return multicasts_; }
  const MulticastRanges& multicasts() const { return multicasts_; }

 private:
  // These need the lock held.
  bool adopt_locked(const Adoption& what, std::string name);
  bool release_locked(std::uint64_t base);
  tl::expected<std::uint64_t, std::string> allocate_locked(
      int device, std::uint64_t size, AllocationKind kind, std::uint64_t alignment,
      std::string name);
  struct Arena;  // one device's (or the host's) reserved range and its free lists
  tl::expected<std::uint64_t, std::string> carve(Arena & arena, std::uint64_t size,
                                                 std::uint64_t alignment);
  Arena& arena_of(int device, AllocationKind kind);
  const Arena* arena_holding(std::uint64_t address) const;
  Arena* arena_holding(std::uint64_t address);
  const Allocation* live_at(std::uint64_t address) const;
  bool overlaps_live(std::uint64_t base, std::uint64_t size) const;
  void quarantine(const Allocation& freed);
  void forget_oldest();
  void forget_overlapping(std::uint64_t base, std::uint64_t size);
  AllocationObserver observer_;
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, Allocation> allocations_;                  // live, by base
  std::map<std::uint64_t, Allocation> freed_;                        // a bounded number, by base
  std::deque<std::pair<std::uint64_t, std::uint64_t>> freed_order_;  // base and id, oldest first
  HostView host_view_;
  std::vector<Arena> arenas_;  // one per device, then the host's
  std::vector<std::vector<bool>> peers_;
  std::uint64_t capacity_ = 0, next_id_ = 1;
  HostShare host_share_;
  std::atomic<std::uint64_t> generation_{1};
  Windows windows_;
  MulticastRanges multicasts_;
  void* window_base_ = nullptr;
  std::uint64_t window_bytes_ = 0;
};

}  // namespace inflight::machine
