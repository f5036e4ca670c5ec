// The matrix descriptors of wgmma: where in shared memory an operand lies (PTX ISA, "Asynchronous
// warpgroup-level matrix instructions: Shared Memory Matrix Layout").
//
// An operand is read in chunks of 16 bytes. Chunks of elements that follow each other in the
// operand's major dimension make a line; eight lines make a core matrix, as wide as the swizzle
// spans.
#pragma once
#include <cstdint>

#include "gpu/async/swizzle.hpp"

namespace inflight::async {

// The dimension in which elements lie side by side. Of K-major operands a line is a row of A or a
// column of B; of MN-major ones it is all elements of one k.
enum class Major : std::uint8_t { k, mn };

// Bytes, but for `base`. All count modulo matrix_window.
struct MatrixDescriptor {
  std::uint32_t start = 0;    // a shared address
  std::uint32_t leading = 0;  // leading dimension byte offset
  std::uint32_t stride = 0;   // stride dimension byte offset
  std::uint32_t base = 0;     // where the swizzle's pattern begins: the matrix base offset
  Swizzle swizzle = Swizzle::none;
  bool operator==(const MatrixDescriptor&) const = default;
};

// Of shared memory that a descriptor can name: 14 bits of 16 bytes.
inline constexpr std::uint32_t matrix_window = 1u << 18;
inline constexpr std::uint32_t core_lines = 8;

constexpr MatrixDescriptor matrix_descriptor(std::uint64_t bits) {
  constexpr Swizzle swizzles[] = {Swizzle::none, Swizzle::b128, Swizzle::b64, Swizzle::b32};
  const auto bytes = [&](unsigned low) {
    return static_cast<std::uint32_t>(bits >> low & 0x3fff) * swizzle_chunk;
  };
  return {bytes(0), bytes(16), bytes(32), static_cast<std::uint32_t>(bits >> 49 & 7),
          swizzles[bits >> 62]};
}

// Where a chunk of a line lies before it is swizzled, from the operand's start.
constexpr std::uint32_t chunk_offset(const MatrixDescriptor& d, Major major, std::uint32_t line,
                                     std::uint32_t chunk) {
  const bool swizzled = d.swizzle != Swizzle::none;
  const std::uint32_t pitch = swizzled ? swizzle_span(d.swizzle) : swizzle_chunk;
  const std::uint32_t width = pitch / swizzle_chunk;  // of a core matrix, in chunks
  // Without a swizzle the two offsets change places between the majors.
  const bool lines_by_stride = swizzled || major == Major::k;
  const std::uint32_t next_lines = lines_by_stride ? d.stride : d.leading;
  const std::uint32_t next_chunks = lines_by_stride ? d.leading : d.stride;
  return line % core_lines * pitch + line / core_lines * next_lines +
         chunk % width * swizzle_chunk + chunk / width * next_chunks;
}

// The shared address of a chunk.
constexpr std::uint32_t chunk_address(const MatrixDescriptor& d, Major major, std::uint32_t line,
                                      std::uint32_t chunk) {
  constexpr std::uint32_t row = 128;  // the pattern's: the base offset counts them
  const std::uint32_t pattern = d.base * row;
  const std::uint32_t address = d.start + chunk_offset(d, major, line, chunk);
  return (swizzle(d.swizzle, address - pattern) + pattern) % matrix_window;
}

}  // namespace inflight::async
