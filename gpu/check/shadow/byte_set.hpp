// A set of bytes of an address space, one bit per byte.
//
// Memory is divided into pages of 32 KiB. A page costs 8 bytes if all or none of its bytes are in
// the set, else 4 KiB. Thread-safe. A byte that two host threads change at the same time may end up
// in the set or not.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace inflight::shadow {

class ByteSet {
 public:
  ByteSet();
  ~ByteSet();
  ByteSet(const ByteSet&) = delete;

  void insert(std::uint64_t address, std::uint64_t bytes) { change<true>(address, bytes); }
  void erase(std::uint64_t address, std::uint64_t bytes) { change<false>(address, bytes); }
  // Inserts, at `to`, the bytes of [from, from + bytes) that are in `other`. The ranges must not
  // overlap.
  void insert_moved(const ByteSet& other, std::uint64_t from, std::uint64_t to,
                    std::uint64_t bytes);
  bool has_any(std::uint64_t address, std::uint64_t bytes) const;
  bool has_all(std::uint64_t address, std::uint64_t bytes) const;
  // True if no byte from the lowest to the highest of these lanes is in the set. May be false
  // too if that range is wide (4 KiB or more).
  bool has_none_near(const std::uint64_t* addresses, std::uint32_t lanes,
                     std::uint32_t bytes) const;
  std::uint64_t count(std::uint64_t address, std::uint64_t bytes) const;  // of bytes in the set
  // True if no byte was ever inserted.
  bool never_used() const { return !used_.load(std::memory_order_relaxed); }

 private:
  static constexpr unsigned page_shift = 15, leaf_shift = 16, root_shift = 16;
  static constexpr std::uint64_t page_bytes = 1ull << page_shift;
  using Word = std::atomic<std::uint64_t>;
  using Bits = std::array<Word, page_bytes / 64>;
  // The two low bits are the state. The others point to the page's Bits, if it has any. These are
  // only valid in state `some`, but are kept in the other states.
  using Page = std::atomic<std::uintptr_t>;
  static constexpr std::uintptr_t none = 0, all = 1, some = 2, state = 3;
  using Leaf = std::array<Page, 1u << leaf_shift>;
  static Bits& bits_of(std::uintptr_t page) { return *reinterpret_cast<Bits*>(page & ~state); }

  template <bool in>
  void change(std::uint64_t address, std::uint64_t bytes);
  Page& page(std::uint64_t number);
  std::uintptr_t load(std::uint64_t number) const;
  void set_whole(Page& page, bool in);
  Bits& split(Page& page);

  std::unique_ptr<std::array<std::atomic<Leaf*>, 1u << root_shift>> root_;
  std::mutex mutex_;  // held while the state of a page changes
  std::atomic<bool> used_{false};
};

}  // namespace inflight::shadow
