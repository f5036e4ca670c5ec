// Lines of an address space, made as they are touched: in pages.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "gpu/check/shadow/line.hpp"
#include "gpu/check/shadow/spin.hpp"

namespace inflight::shadow {

inline constexpr std::uint32_t page_lines = 32;
inline constexpr std::uint64_t page_bytes = page_lines * line_bytes;
using Page = std::array<Line, page_lines>;

// Of a block's own memory, which begins at 0 and is small. One caller at a time.
class OwnPages {
 public:
  // f(Line&) for the line of that number gives how many records it forgot.
  template <class F>
  void with(std::uint64_t line, F f) {
    const std::uint64_t page = line / page_lines;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
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

// Of memory that threads of the host use side by side.
class SharedPages {
 public:
  template <class F>
  void with(std::uint64_t line, F f) {
    const std::uint64_t page = line / page_lines;
    Shard& s = of(page);
    const std::lock_guard hold(s.lock);
    if (page != s.last) {
      std::unique_ptr<Page>& p = s.pages[page];
      if (!p) p = std::make_unique<Page>();
      s.last = page, s.last_page = p.get();
    }
    s.forgotten += f((*s.last_page)[line % page_lines]);
  }
  template <class F>
  void with_page(std::uint64_t page, F f) {
    Shard& s = of(page);
    const std::lock_guard hold(s.lock);
    if (const auto p = s.pages.find(page); p != s.pages.end()) f(*p->second);
  }
  void drop(std::uint64_t page) {
    Shard& s = of(page);
    const std::lock_guard hold(s.lock);
    s.pages.erase(page);
    s.last = none;
  }
  template <class F>
  void each(F f) const {
    for (const Shard& s : shards_) {
      const std::lock_guard hold(s.lock);
      for (const auto& [number, page] : s.pages) f(*page);
    }
  }
  std::uint64_t forgotten() const {
    std::uint64_t sum = 0;
    for (const Shard& s : shards_) {
      const std::lock_guard hold(s.lock);
      sum += s.forgotten;
    }
    return sum;
  }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct alignas(64) Shard {
    mutable Spin lock;
    std::uint64_t last = none;
    Page* last_page = nullptr;
    std::uint64_t forgotten = 0;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages;
  };
  Shard& of(std::uint64_t page) { return shards_[page % shards_.size()]; }
  std::array<Shard, 64> shards_;
};

}  // namespace inflight::shadow
