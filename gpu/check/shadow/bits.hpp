// A bit set with one bit per byte of a range, and the number of set bits. Not thread-safe.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace inflight::shadow {

class Bits {
 public:
  Bits() = default;
  explicit Bits(std::uint64_t bytes) : size_((bytes + 63) / 64 * 64) {}

  std::uint64_t size() const { return size_; }
  std::uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  // Ranges are [from, from + bytes), cut to the size of the set.
  void insert(std::uint64_t from, std::uint64_t bytes) {
    if (bytes != 0) words_.resize(size_ / 64);
    each_word(from, bytes, [&](std::uint64_t& word, std::uint64_t mask) {
      count_ += static_cast<unsigned>(std::popcount(mask & ~word));
      word |= mask;
      return true;
    });
  }
  void erase(std::uint64_t from, std::uint64_t bytes) {
    each_word(from, bytes, [&](std::uint64_t& word, std::uint64_t mask) {
      count_ -= static_cast<unsigned>(std::popcount(mask & word));
      word &= ~mask;
      return true;
    });
  }
  bool has_any(std::uint64_t from, std::uint64_t bytes) const {
    return count_ != 0 && !each_word(from, bytes, [](std::uint64_t word, std::uint64_t mask) {
             return (word & mask) == 0;
           });
  }
  bool has_all(std::uint64_t from, std::uint64_t bytes) const {
    if (bytes == 0 || from + bytes > size_) return from + bytes <= size_;
    return count_ >= bytes && each_word(from, bytes, [](std::uint64_t word, std::uint64_t mask) {
             return (word & mask) == mask;
           });
  }
  std::uint64_t count(std::uint64_t from, std::uint64_t bytes) const {
    std::uint64_t found = 0;
    each_word(from, bytes, [&](std::uint64_t word, std::uint64_t mask) {
      found += static_cast<unsigned>(std::popcount(word & mask));
      return true;
    });
    return found;
  }

 private:
  // Calls f(word, mask of the bits in it) until f returns false.
  template <class F>
  bool each_word(std::uint64_t from, std::uint64_t bytes, F f) const {
    return const_cast<Bits*>(this)->each_word(
        from, bytes, [&](std::uint64_t& word, std::uint64_t mask) {
          return f(static_cast<const std::uint64_t&>(word), mask);
        });
  }
  template <class F>
  bool each_word(std::uint64_t from, std::uint64_t bytes, F f) {
    const std::uint64_t to = std::min<std::uint64_t>(from + bytes, words_.size() * 64);
    while (from < to) {
      const std::uint64_t end = std::min(to, (from | 63) + 1), width = end - from;
      const std::uint64_t mask = (width == 64 ? ~0ull : (1ull << width) - 1) << (from & 63);
      if (!f(words_[from / 64], mask)) return false;
      from = end;
    }
    return true;
  }
  std::uint64_t size_ = 0;
  std::vector<std::uint64_t> words_;  // none until a bit is set, because most sets stay empty
  std::uint64_t count_ = 0;
};

}  // namespace inflight::shadow
