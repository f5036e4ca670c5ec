// The swizzles of tensor copies (PTX ISA, "Tensors: Swizzling Modes"): which 16-byte chunk of
// shared memory a 16-byte chunk of the box lands in.
#pragma once
#include <cstdint>

namespace inflight::async {

// The values are CUtensorMapSwizzle's and tensormap.replace's.
enum class Swizzle : std::uint8_t { none, b32, b64, b128 };

inline constexpr std::uint32_t swizzle_chunk = 16;  // bytes that stay together

// Bytes of a row within which chunks change places, and the pitch of a row of a box in shared
// memory: a narrower box leaves the rest of the row as it was. 0 without a swizzle.
constexpr std::uint32_t swizzle_span(Swizzle mode) {
  return mode == Swizzle::none ? 0 : 16u << static_cast<unsigned>(mode);
}

// Bytes after which the pattern repeats. Shared memory aligned to this sees the pattern from its
// start; any other multiple of 128 sees it from the middle. 1 without a swizzle.
constexpr std::uint32_t swizzle_period(Swizzle mode) {
  return mode == Swizzle::none ? 1 : 8 * swizzle_span(mode);
}

// Where the byte of the unswizzled layout at this shared address goes: the index of its chunk in
// the row (address bits 4 and up) is combined with address bits 7 and up, as many bits as the span
// has chunks. The pattern belongs to the address, not to the box. Its own inverse.
constexpr std::uint32_t swizzle(Swizzle mode, std::uint32_t address) {
  const std::uint32_t chunk_bits = mode == Swizzle::none ? 0 : swizzle_span(mode) - swizzle_chunk;
  return address ^ (address >> 3 & chunk_bits);
}

}  // namespace inflight::async
