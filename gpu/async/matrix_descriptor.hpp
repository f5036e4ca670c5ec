// The matrix descriptors of wgmma and tcgen05: the place of an operand in shared memory (PTX ISA,
// "Asynchronous warpgroup-level matrix instructions: Shared Memory Matrix Layout").
//
// An operand is read in chunks of 16 bytes. Consecutive chunks in the operand's major dimension
// form a line. Eight lines form a core matrix, which is as wide as the swizzle span.
#pragma once
#include <cstdint>

#include "gpu/async/swizzle.hpp"

namespace inflight::async {

// The dimension in which elements are contiguous. A line of a K-major operand is a row of A or a
// column of B. A line of an MN-major operand is all elements of one k.
enum class Major : std::uint8_t { k, mn };

// In bytes, except `base`. Addresses wrap around at matrix_window.
struct MatrixDescriptor {
  std::uint32_t start = 0;    // a shared address
  std::uint32_t leading = 0;  // leading dimension byte offset
  std::uint32_t stride = 0;   // stride dimension byte offset
  std::uint32_t base = 0;     // where the swizzle's pattern begins: the matrix base offset
  Swizzle swizzle = Swizzle::none;
  bool wide_atoms = false;  // of Swizzle::b128: it moves 32 bytes at a time, tcgen05 only
  bool operator==(const MatrixDescriptor&) const = default;
};

// Bytes of shared memory that a descriptor can address: 14 bits, in units of 16 bytes.
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

// The same of a descriptor for tcgen05, whose swizzle modes have other numbers. The modes 3, 5 and
// 7 do not exist.
constexpr bool has_block_swizzle(std::uint64_t bits) {
  const std::uint64_t mode = bits >> 61;
  return mode == 1 || mode % 2 == 0;
}
constexpr MatrixDescriptor block_matrix_descriptor(std::uint64_t bits) {
  constexpr Swizzle swizzles[] = {Swizzle::none, Swizzle::b128, Swizzle::b128, Swizzle::none,
                                  Swizzle::b64,  Swizzle::none, Swizzle::b32,  Swizzle::none};
  MatrixDescriptor d = matrix_descriptor(bits);
  d.swizzle = swizzles[bits >> 61];
  d.wide_atoms = bits >> 61 == 1;
  return d;
}

// Returns a chunk's offset in bytes from the operand's start, before swizzling.
constexpr std::uint32_t chunk_offset(const MatrixDescriptor& d, Major major, std::uint32_t line,
                                     std::uint32_t chunk) {
  const bool swizzled = d.swizzle != Swizzle::none;
  const std::uint32_t pitch = swizzled ? swizzle_span(d.swizzle) : swizzle_chunk;
  const std::uint32_t width = pitch / swizzle_chunk;  // of a core matrix, in chunks
  // Without a swizzle, MN-major operands use the two offsets the other way round.
  const bool lines_by_stride = swizzled || major == Major::k;
  const std::uint32_t next_lines = lines_by_stride ? d.stride : d.leading;
  const std::uint32_t next_chunks = lines_by_stride ? d.leading : d.stride;
  const std::uint32_t lines = d.wide_atoms ? core_lines / 2 : core_lines;
  return line % lines * pitch + line / lines * next_lines + chunk % width * swizzle_chunk +
         chunk / width * next_chunks;
}

// Returns the shared address of a chunk.
constexpr std::uint32_t chunk_address(const MatrixDescriptor& d, Major major, std::uint32_t line,
                                      std::uint32_t chunk) {
  constexpr std::uint32_t row = 128;  // bytes of a row of the pattern: the unit of the base offset
  const std::uint32_t pattern = d.base * row;
  const std::uint32_t address = d.start + chunk_offset(d, major, line, chunk);
  if (d.wide_atoms)
    return (((address - pattern) ^ ((address - pattern) >> 2 & 0x60)) + pattern) % matrix_window;
  return (swizzle(d.swizzle, address - pattern) + pattern) % matrix_window;
}

}  // namespace inflight::async
