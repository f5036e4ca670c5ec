// The chunk addresses of a matrix descriptor, compared with the layouts of the PTX ISA and with the
// result of a tensor copy with the same swizzle.
#include "gpu/async/matrix_descriptor.hpp"

#include <gtest/gtest.h>

#include <set>

namespace inflight::async {
namespace {

constexpr Swizzle swizzles[] = {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128};

std::uint64_t bits_of(const MatrixDescriptor& d) {
  constexpr std::uint64_t layouts[] = {0, 3, 2, 1};  // by Swizzle
  return d.start >> 4 | std::uint64_t{d.leading >> 4} << 16 | std::uint64_t{d.stride >> 4} << 32 |
         std::uint64_t{d.base} << 49 | layouts[static_cast<unsigned>(d.swizzle)] << 62;
}

TEST(MatrixDescriptor, HasItsFieldsInSixteenths) {
  const MatrixDescriptor d = matrix_descriptor(0x4006'0040'0001'0080);
  EXPECT_EQ(d.start, 0x800u);
  EXPECT_EQ(d.leading, 16u);
  EXPECT_EQ(d.stride, 1024u);
  EXPECT_EQ(d.base, 3u);
  EXPECT_EQ(d.swizzle, Swizzle::b128);
  for (const Swizzle s : swizzles) {
    const MatrixDescriptor all{0x3fff0, 0x3fff0, 0x10, 7, s};
    EXPECT_EQ(matrix_descriptor(bits_of(all)), all);
  }
}

// The bits outside the fields have no meaning: 14 and 15, 30 and 31, 46 to 48, 52 to 61.
TEST(MatrixDescriptor, IgnoresTheBitsBetweenItsFields) {
  constexpr std::uint64_t between = 3ull << 14 | 3ull << 30 | 7ull << 46 | 0x3ffull << 52;
  EXPECT_EQ(matrix_descriptor(between), MatrixDescriptor{});
}

TEST(MatrixDescriptor, PlacesUnswizzledCoreMatricesByBothOffsets) {
  const MatrixDescriptor d{1024, 256, 4096, 0, Swizzle::none};
  // K-major: eight rows of 16 bytes, the next along K by the leading offset.
  EXPECT_EQ(chunk_address(d, Major::k, 3, 0), 1024u + 3 * 16);
  EXPECT_EQ(chunk_address(d, Major::k, 3, 1), 1024u + 3 * 16 + 256);
  EXPECT_EQ(chunk_address(d, Major::k, 11, 1), 1024u + 3 * 16 + 256 + 4096);
  // MN-major: eight k of 16 bytes, the next along K by the leading offset too.
  EXPECT_EQ(chunk_address(d, Major::mn, 11, 2), 1024u + 3 * 16 + 256 + 2 * 4096);
}

TEST(MatrixDescriptor, StepsByTheStrideOffsetEveryEightLinesOfASwizzle) {
  const MatrixDescriptor d{2048, 512, 1024, 0, Swizzle::b32};
  EXPECT_EQ(chunk_offset(d, Major::k, 9, 1), 1024u + 32 + 16);
  EXPECT_EQ(chunk_offset(d, Major::mn, 9, 1), 1024u + 32 + 16);
  // Past the swizzle's span, the leading offset applies.
  EXPECT_EQ(chunk_offset(d, Major::mn, 9, 5), 1024u + 32 + 16 + 2 * 512);
}

// A tensor copy puts each chunk where a K-major descriptor with the same swizzle finds it. This
// also holds if the descriptor starts some chunks into the rows, as it does along K.
TEST(MatrixDescriptor, FindsWhatATensorCopyOfTheSameSwizzleWrote) {
  for (const Swizzle s : {Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
    const std::uint32_t span = swizzle_span(s);
    for (std::uint32_t first = 0; first < span / swizzle_chunk; first += 2)
      for (std::uint32_t row = 0; row < 64; ++row)
        for (std::uint32_t chunk = 0; chunk < 2; ++chunk) {
          const MatrixDescriptor d{4096 + first * swizzle_chunk, 16, 8 * span, 0, s};
          const std::uint32_t unswizzled = 4096 + row * span + (first + chunk) * swizzle_chunk;
          EXPECT_EQ(chunk_address(d, Major::k, row, chunk), swizzle(s, unswizzled));
        }
  }
}

TEST(MatrixDescriptor, GivesEveryChunkAPlaceOfItsOwn) {
  for (const Swizzle s : swizzles)
    for (const Major major : {Major::k, Major::mn}) {
      const std::uint32_t lines = major == Major::k ? 64 : 16, chunks = major == Major::k ? 2 : 8;
      const std::uint32_t atom = s == Swizzle::none ? 128 : 8 * swizzle_span(s);
      const MatrixDescriptor d{8192, 32 * atom, atom, 0, s};
      std::set<std::uint32_t> places;
      for (std::uint32_t l = 0; l < lines; ++l)
        for (std::uint32_t c = 0; c < chunks; ++c) places.insert(chunk_address(d, major, l, c));
      EXPECT_EQ(places.size(), lines * chunks);
    }
}

// The pattern depends on the address: a matrix that starts inside the pattern gives its base
// offset, or the address where the pattern starts.
TEST(MatrixDescriptor, CountsThePatternFromTheBaseOffset) {
  MatrixDescriptor d{1024 + 3 * 128, 16, 1024, 0, Swizzle::b128};
  EXPECT_EQ(chunk_address(d, Major::k, 0, 0), 1024u + 3 * 128 + 3 * 16);
  d.base = 3;
  EXPECT_EQ(chunk_address(d, Major::k, 0, 0), 1024u + 3 * 128);
  EXPECT_EQ(chunk_address(d, Major::k, 2, 1), 1024u + 5 * 128 + (1 ^ 2) * 16);
}

TEST(MatrixDescriptor, WrapsAtTheEndOfItsWindow) {
  const MatrixDescriptor d{matrix_window - 16, 16, 128, 0, Swizzle::none};
  EXPECT_EQ(chunk_address(d, Major::k, 1, 0), 0u);
}

}  // namespace
}  // namespace inflight::async
