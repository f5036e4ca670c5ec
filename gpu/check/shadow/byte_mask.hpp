// A set of bytes of one line of memory, one bit per byte.
#pragma once
#include <bit>
#include <cstdint>

namespace inflight::shadow {

inline constexpr std::uint32_t line_bytes = 128;

struct ByteMask {
  std::uint64_t low = 0, high = 0;

  // Bytes [from, to), both at most line_bytes.
  static constexpr ByteMask range(std::uint32_t from, std::uint32_t to) {
    return below(to).without(below(from));
  }
  constexpr bool any() const { return (low | high) != 0; }
  constexpr bool has(std::uint32_t byte) const {
    return (byte < 64 ? low >> byte : high >> (byte - 64)) & 1;
  }
  constexpr std::uint32_t first() const {  // only if any()
    return static_cast<std::uint32_t>(low ? std::countr_zero(low) : 64 + std::countr_zero(high));
  }
  // The number of consecutive bytes from the first byte on.
  constexpr std::uint32_t run() const {
    std::uint32_t end = first();
    while (end < line_bytes && has(end)) ++end;
    return end - first();
  }
  // The 4-byte words that have a byte in the set: bit w stands for bytes 4w to 4w + 3.
  constexpr std::uint64_t words() const { return words_of(low) | words_of(high) << 16; }
  constexpr ByteMask without(ByteMask o) const { return {low & ~o.low, high & ~o.high}; }
  constexpr ByteMask operator&(ByteMask o) const { return {low & o.low, high & o.high}; }
  constexpr ByteMask operator|(ByteMask o) const { return {low | o.low, high | o.high}; }
  constexpr bool operator==(const ByteMask&) const = default;

 private:
  static constexpr std::uint64_t words_of(std::uint64_t bytes) {
    bytes |= bytes >> 1, bytes |= bytes >> 2;
    bytes &= 0x1111111111111111;
    bytes = (bytes | bytes >> 3) & 0x0303030303030303;
    bytes = (bytes | bytes >> 6) & 0x000f000f000f000f;
    bytes = (bytes | bytes >> 12) & 0x000000ff000000ff;
    return (bytes | bytes >> 24) & 0xffff;
  }
  static constexpr ByteMask below(std::uint32_t byte) {
    if (byte >= 128) return {~0ull, ~0ull};
    if (byte >= 64) return {~0ull, (1ull << (byte - 64)) - 1};
    return {(1ull << byte) - 1, 0};
  }
};

}  // namespace inflight::shadow
