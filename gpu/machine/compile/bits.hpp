// Rows of bits: sets of registers, one for each op.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace inflight::machine {

class Bits {
 public:
  Bits() = default;
  Bits(std::size_t rows, std::size_t columns)
      : width_((columns + 63) / 64), words_(rows * width_, 0) {}

  bool has(std::size_t row, std::size_t column) const {
    return words_[row * width_ + column / 64] >> column % 64 & 1;
  }
  void add(std::size_t row, std::size_t column) {
    words_[row * width_ + column / 64] |= std::uint64_t{1} << column % 64;
  }
  void remove(std::size_t row, std::size_t column) {
    words_[row * width_ + column / 64] &= ~(std::uint64_t{1} << column % 64);
  }
  void clear(std::size_t row) {
    for (std::size_t i = 0; i < width_; ++i) words_[row * width_ + i] = 0;
  }
  // Adds a row of another table of the same width. Returns whether that changed something.
  bool add(std::size_t row, const Bits& other, std::size_t of) {
    bool changed = false;
    for (std::size_t i = 0; i < width_; ++i) {
      std::uint64_t& word = words_[row * width_ + i];
      const std::uint64_t both = word | other.words_[of * width_ + i];
      changed |= both != word;
      word = both;
    }
    return changed;
  }
  // Whether the row differs from a row of another table, which then becomes equal to it.
  bool give(std::size_t row, Bits& other, std::size_t to) const {
    bool changed = false;
    for (std::size_t i = 0; i < width_; ++i) {
      std::uint64_t& word = other.words_[to * width_ + i];
      changed |= word != words_[row * width_ + i];
      word = words_[row * width_ + i];
    }
    return changed;
  }
  // each(column) for the columns of a row.
  template <class Each>
  void for_each(std::size_t row, Each each) const {
    for (std::size_t i = 0; i < width_; ++i)
      for (std::uint64_t word = words_[row * width_ + i]; word != 0; word &= word - 1)
        each(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
  }

 private:
  std::size_t width_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace inflight::machine
