// Ranges of bytes, and the range that a pitched box of them spans. A range never wraps: whoever
// makes one from a program's numbers has to say what happens if there is none.
#pragma once
#include <cstdint>
#include <optional>

#include "gpu/bytes/checked.hpp"

namespace inflight {

// The bytes [base, end) of an address space or a file. The end is at most 2^64-1.
class ByteRange {
 public:
  constexpr ByteRange() = default;  // empty, at 0
  // Nothing if the end would be above 2^64-1.
  static constexpr std::optional<ByteRange> of(std::uint64_t base, Checked bytes) {
    const Checked end = base + bytes;
    return end.exact() ? std::optional(ByteRange(base, end.value_or(0))) : std::nullopt;
  }
  // Nothing if `end` is below `base`.
  static constexpr std::optional<ByteRange> between(std::uint64_t base, std::uint64_t end) {
    return base <= end ? std::optional(ByteRange(base, end)) : std::nullopt;
  }

  constexpr std::uint64_t base() const { return base_; }
  constexpr std::uint64_t end() const { return end_; }
  constexpr std::uint64_t bytes() const { return end_ - base_; }
  constexpr bool empty() const { return base_ == end_; }

  constexpr bool contains(std::uint64_t address) const {
    return base_ <= address && address < end_;
  }
  // An empty range lies in every range that has a byte or the end there.
  constexpr bool contains(const ByteRange& other) const {
    return base_ <= other.base_ && other.end_ <= end_;
  }
  constexpr bool overlaps(const ByteRange& other) const {
    return base_ < other.end_ && other.base_ < end_;
  }
  // Bytes from `address` to the end; 0 if it is not in the range.
  constexpr std::uint64_t from(std::uint64_t address) const {
    return contains(address) ? end_ - address : 0;
  }

  constexpr bool operator==(const ByteRange&) const = default;

 private:
  constexpr ByteRange(std::uint64_t base, std::uint64_t end) : base_(base), end_(end) {}
  std::uint64_t base_ = 0, end_ = 0;
};

// `slices` × `rows` rows of `bytes` bytes. Rows lie `pitch` bytes apart, slices `slice_pitch`.
struct ByteBox {
  std::uint64_t bytes = 0, rows = 1, slices = 1;
  Checked pitch = 0, slice_pitch = 0;

  constexpr bool empty() const { return bytes == 0 || rows == 0 || slices == 0; }
  // From the first byte to the last one; not exact if that is more than 2^64-1. A pitch counts only
  // between rows, so it may be anything if there is one row.
  constexpr Checked span() const {
    if (empty()) return 0;
    return steps(slices - 1, slice_pitch) + steps(rows - 1, pitch) + bytes;
  }
  // Where a row begins, counted from the first byte. Ask it only of a box whose span is exact.
  constexpr std::uint64_t offset(std::uint64_t slice, std::uint64_t row) const {
    return (steps(slice, slice_pitch) + steps(row, pitch)).value_or(0);
  }
  // The bytes that it moves.
  constexpr Checked total() const { return Checked(bytes) * rows * slices; }
  // Where it lies if its first byte is at `base`. Nothing if that wraps.
  constexpr std::optional<ByteRange> at(std::uint64_t base) const {
    return ByteRange::of(base, span());
  }

 private:
  static constexpr Checked steps(std::uint64_t count, Checked size) {
    return count == 0 ? Checked(0) : count * size;
  }
};

}  // namespace inflight
