// The swizzles of tensor copies (PTX ISA, "Tensors: Swizzling Modes"). A swizzle maps each 16-byte
// chunk of the box to a 16-byte chunk of shared memory.
#pragma once
#include <cstdint>

namespace inflight::async {

// The values are CUtensorMapSwizzle's and tensormap.replace's.
enum class Swizzle : std::uint8_t { none, b32, b64, b128 };

inline constexpr std::uint32_t swizzle_chunk = 16;  // bytes that stay together

// Bytes of a row within which chunks are permuted. Also the pitch of a row of a box in shared
// memory: a narrower box leaves the rest of the row unchanged. 0 without a swizzle.
constexpr std::uint32_t swizzle_span(Swizzle mode) {
  return mode == Swizzle::none ? 0 : 16u << static_cast<unsigned>(mode);
}

// Bytes after which the pattern repeats. In shared memory aligned to this, the pattern begins at
// its start. At any other multiple of 128 it begins in the middle. 1 without a swizzle.
constexpr std::uint32_t swizzle_period(Swizzle mode) {
  return mode == Swizzle::none ? 1 : 8 * swizzle_span(mode);
}

// Maps a shared address of the unswizzled layout to the swizzled one. XORs the chunk's index in the
// row (address bits 4 and up) with address bits 7 and up: 1, 2 or 3 bits for spans of 32, 64 or 128
// bytes. The pattern depends on the address, not on the box. The function is its own inverse.
constexpr std::uint32_t swizzle(Swizzle mode, std::uint32_t address) {
  const std::uint32_t chunk_bits = mode == Swizzle::none ? 0 : swizzle_span(mode) - swizzle_chunk;
  return address ^ (address >> 3 & chunk_bits);
}

}  // namespace inflight::async
