// The lines of an address space, in pages that are created on first access.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/check/shadow/line.hpp"
#include "gpu/check/shadow/spin.hpp"

namespace inflight::shadow {

inline constexpr unsigned page_shift = 12;
inline constexpr std::uint64_t page_bytes = 1u << page_shift;
inline constexpr std::uint32_t page_lines = page_bytes / line_bytes;
using Page = std::array<Line, page_lines>;

// Pages of a block's shared memory, which begins at 0 and is small. Not thread-safe.
class OwnPages {
 public:
  // Calls f(Line&) for the line of that number. f returns the number of records it dropped.
  template <class F>
  void with(std::uint64_t line, F f) {
    const std::uint64_t page = line / page_lines;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique_for_overwrite<Page>();
    forgotten_ += f((*pages_[page])[line % page_lines]);
  }
  // f(Page&) if there is that page.
  template <class F>
  void with_page(std::uint64_t page, F f) {
    if (page < pages_.size() && pages_[page]) f(*pages_[page]);
  }
  void drop(std::uint64_t page) {
    if (page < pages_.size()) pages_[page].reset();
  }
  template <class F>
  void each(F f) const {
    for (const auto& page : pages_)
      if (page) f(*page);
  }
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  std::vector<std::unique_ptr<Page>> pages_;
  std::uint64_t forgotten_ = 0;
};

// Pages of memory that several host threads access at the same time, in a two-level table. Pages
// share a fixed number of locks.
class SharedPages {
 public:
  SharedPages() : root_(std::make_unique<Root>()) {}
  ~SharedPages() {
    for (const auto& leaf : *root_) delete leaf.load();
  }
  SharedPages(const SharedPages&) = delete;

  template <class F>
  void with(std::uint64_t line, F f) {
    const std::uint64_t number = line / page_lines;
    std::atomic<Page*>& at = made(number);
    Lock& lock = of(number);
    const std::lock_guard hold(lock.spin);
    Page* page = at.load(std::memory_order_relaxed);
    if (!page) {
      auto fresh = std::make_unique_for_overwrite<Page>();
      if (any_begun_.load(std::memory_order_relaxed)) begin(*fresh, number * page_bytes);
      at.store(page = fresh.release(), std::memory_order_relaxed);
    }
    lock.forgotten += f((*page)[line % page_lines]);
  }
  // Loads the line into the cache, if its page exists: it may be dropped meanwhile.
  void prefetch(std::uint64_t line) const {
    const Slot at = slot(line / page_lines);
    const Leaf* const leaf = (*root_)[at.leaf].load(std::memory_order_acquire);
    const Page* const page = leaf ? leaf->pages[at.page].load(std::memory_order_relaxed) : nullptr;
    if (!page) return;
    const auto* const begin =
        reinterpret_cast<const char*>(page) + line % page_lines * sizeof(Line);
    for (std::size_t i = 0; i < sizeof(Line); i += 64) __builtin_prefetch(begin + i);
    __builtin_prefetch(begin + sizeof(Line) - 1);
  }
  template <class F>
  void with_page(std::uint64_t number, F f) {
    const Slot at = slot(number);
    const Leaf* const leaf = (*root_)[at.leaf].load(std::memory_order_acquire);
    if (!leaf) return;
    const std::lock_guard hold(of(number).spin);
    if (Page* const page = leaf->pages[at.page].load(std::memory_order_relaxed)) f(*page);
  }
  void drop(std::uint64_t number) {
    const Slot at = slot(number);
    Leaf* const leaf = (*root_)[at.leaf].load(std::memory_order_acquire);
    if (!leaf) return;
    const std::lock_guard hold(of(number).spin);
    delete leaf->pages[at.page].exchange(nullptr, std::memory_order_relaxed);
  }
  // Lines of the range that do not exist yet will start with this record, for all their bytes in
  // the range.
  void begin_with(std::uint64_t address, std::uint64_t bytes, const Record& record) {
    const std::lock_guard hold(begun_lock_);
    cut(address, address + bytes);
    begun_[address] = {bytes, record};
    any_begun_.store(true, std::memory_order_relaxed);
  }
  void end_beginning(std::uint64_t address, std::uint64_t bytes) {
    if (!any_begun_.load(std::memory_order_relaxed)) return;
    const std::lock_guard hold(begun_lock_);
    cut(address, address + bytes);
  }
  template <class F>
  void each(F f) const {
    for (std::uint64_t l = 0; l < root_->size(); ++l)
      if (const Leaf* const leaf = (*root_)[l].load(std::memory_order_acquire))
        for (std::uint64_t p = 0; p < leaf->pages.size(); ++p) {
          const std::lock_guard hold(of(l << leaf_shift | p).spin);
          if (const Page* const page = leaf->pages[p].load(std::memory_order_relaxed)) f(*page);
        }
  }
  std::uint64_t forgotten() const {
    std::uint64_t sum = 0;
    for (const Lock& lock : locks_) {
      const std::lock_guard hold(lock.spin);
      sum += lock.forgotten;
    }
    return sum;
  }

 private:
  static constexpr unsigned address_bits = 47, leaf_shift = 18;
  static constexpr unsigned root_shift = address_bits - page_shift - leaf_shift;
  struct Leaf {
    std::array<std::atomic<Page*>, 1u << leaf_shift> pages{};  // changed under the page's lock
    ~Leaf() {
      for (const auto& page : pages) delete page.load(std::memory_order_relaxed);
    }
  };
  using Root = std::array<std::atomic<Leaf*>, 1u << root_shift>;
  struct Slot {
    std::uint64_t leaf, page;
  };
  static Slot slot(std::uint64_t page) {
    return {page >> leaf_shift & ((1u << root_shift) - 1), page & ((1u << leaf_shift) - 1)};
  }
  std::atomic<Page*>& made(std::uint64_t page) {
    const Slot at = slot(page);
    std::atomic<Leaf*>& place = (*root_)[at.leaf];
    Leaf* leaf = place.load(std::memory_order_acquire);
    if (!leaf) {
      auto fresh = std::make_unique<Leaf>();
      if (place.compare_exchange_strong(leaf, fresh.get())) leaf = fresh.release();
    }
    return leaf->pages[at.page];
  }
  // Removes [from, to) from all ranges.
  void cut(std::uint64_t from, std::uint64_t to) {
    auto at = begun_.upper_bound(from);
    if (at != begun_.begin()) --at;
    while (at != begun_.end() && at->first < to) {
      const auto [first, old] = *at;
      const std::uint64_t end = first + old.bytes;
      if (end <= from) {
        ++at;
        continue;
      }
      at = begun_.erase(at);
      if (first < from) begun_[first] = {from - first, old.record};
      if (end > to) begun_[to] = {end - to, old.record};
    }
  }
  void begin(Page& page, std::uint64_t address) {
    const std::lock_guard hold(begun_lock_);
    auto at = begun_.upper_bound(address);
    if (at != begun_.begin()) --at;
    for (; at != begun_.end() && at->first < address + page_bytes; ++at) {
      const auto& [first, range] = *at;
      Record record = range.record;
      for (std::uint64_t l = 0; l < page_lines; ++l) {
        const std::uint64_t line = address + l * line_bytes, end = first + range.bytes;
        const std::uint64_t from = std::max(line, first), to = std::min(line + line_bytes, end);
        if (from >= to) continue;
        record.bytes = ByteMask::range(static_cast<std::uint32_t>(from - line),
                                       static_cast<std::uint32_t>(to - line));
        page[l].begin(record);
      }
    }
  }
  struct Begun {
    std::uint64_t bytes = 0;
    Record record;
  };
  struct alignas(64) Lock {
    mutable Spin spin;
    std::uint64_t forgotten = 0;
  };
  Lock& of(std::uint64_t page) { return locks_[page % locks_.size()]; }
  const Lock& of(std::uint64_t page) const { return locks_[page % locks_.size()]; }
  std::unique_ptr<Root> root_;
  std::array<Lock, 64> locks_;
  std::mutex begun_lock_;
  std::map<std::uint64_t, Begun> begun_;  // ranges by first address; none overlaps another
  std::atomic<bool> any_begun_{false};
};

}  // namespace inflight::shadow
