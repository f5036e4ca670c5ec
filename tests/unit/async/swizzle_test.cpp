// Swizzles: the tables in NVIDIA's layouts, and properties of every address.
#include "gpu/async/swizzle.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "gpu/async/tensor_copy.hpp"

namespace inflight::async {
namespace {

constexpr Swizzle modes[] = {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128};

TEST(Swizzle, IsItsOwnInverseAndKeepsChunksAndPeriods) {
  for (Swizzle mode : modes)
    for (std::uint32_t address = 0; address < 8192; ++address) {
      const std::uint32_t to = swizzle(mode, address);
      ASSERT_EQ(swizzle(mode, to), address);
      ASSERT_EQ(to % swizzle_chunk, address % swizzle_chunk);
      ASSERT_EQ(swizzle(mode, address + swizzle_period(mode)), to + swizzle_period(mode));
    }
}

TEST(Swizzle, StaysWithinTheSpanOfItsRow) {
  for (Swizzle mode : {Swizzle::b32, Swizzle::b64, Swizzle::b128})
    for (std::uint32_t address = 0; address < 4096; address += swizzle_chunk)
      ASSERT_EQ(swizzle(mode, address) / swizzle_span(mode), address / swizzle_span(mode));
}

TEST(Swizzle, IsABijectionOfItsPeriod) {
  for (Swizzle mode : modes) {
    std::set<std::uint32_t> places;
    for (std::uint32_t address = 0; address < 1024; ++address)
      places.insert(swizzle(mode, address));
    EXPECT_EQ(places.size(), 1024u);
    EXPECT_EQ(*places.rbegin(), 1023u);
  }
}

TEST(Swizzle, IsAConstantExpression) {
  static_assert(swizzle(Swizzle::b128, 0x390) == 0x3e0);
  static_assert(swizzle(Swizzle::b64, 0x190) == 0x1a0);
  static_assert(swizzle(Swizzle::b32, 0x080) == 0x090);
  static_assert(swizzle(Swizzle::none, 0x390) == 0x390);
  static_assert(swizzle_period(Swizzle::b128) == 1024 && swizzle_span(Swizzle::b64) == 64);
}

// Shared memory after a load of an f32 box from rows of 0, 1, 2, ... as a table of 16-byte chunks.
// Each line is a row of `width` chunks with the number of the chunk there, or a dot.
std::string table(Swizzle mode, std::uint32_t columns, std::uint32_t rows, std::uint32_t width) {
  std::vector<float> global(std::size_t{columns} * rows);
  for (std::size_t i = 0; i < global.size(); ++i) global[i] = static_cast<float>(i % columns);
  TensorMap m;
  m.type = TensorType::f32;
  m.rank = 2;
  m.dim = {columns, rows, 1, 1, 1};
  m.stride = {4, columns * 4};
  m.box = {columns, rows, 1, 1, 1};
  m.swizzle = mode;
  std::vector<float> shared(box_of(m).shared_bytes() / 4, -1.f);
  tensor_load(
      m, {},
      {reinterpret_cast<std::byte*>(shared.data()), reinterpret_cast<std::byte*>(global.data())});
  std::string text;
  for (std::size_t i = 0; i < shared.size(); i += 4) {
    const bool whole = shared[i + 1] == shared[i] + 1 && shared[i + 3] == shared[i] + 3;
    text += whole ? static_cast<char>('0' + static_cast<int>(shared[i]) / 4) : '.';
    if (i / 4 % width == width - 1) text += i + 4 < shared.size() ? " " : "";
  }
  return text;
}

TEST(SwizzleTables, NoSwizzle) {
  EXPECT_EQ(table(Swizzle::none, 8, 4, 2), "01 01 01 01");
  EXPECT_EQ(table(Swizzle::none, 32, 2, 8), "01234567 01234567");
}
TEST(SwizzleTables, Of32Bytes) {
  EXPECT_EQ(table(Swizzle::b32, 8, 16, 2), "01 01 01 01 10 10 10 10 01 01 01 01 10 10 10 10");
  EXPECT_EQ(table(Swizzle::b32, 8, 16, 8), "01010101 10101010 01010101 10101010");
}
TEST(SwizzleTables, Of64Bytes) {
  EXPECT_EQ(table(Swizzle::b64, 16, 16, 4),
            "0123 0123 1032 1032 2301 2301 3210 3210 0123 0123 1032 1032 2301 2301 3210 3210");
  EXPECT_EQ(table(Swizzle::b64, 16, 16, 8),
            "01230123 10321032 23012301 32103210 01230123 10321032 23012301 32103210");
}
TEST(SwizzleTables, Of128Bytes) {
  const std::string period =
      "01234567 10325476 23016745 32107654 45670123 54761032 67452301 76543210";
  EXPECT_EQ(table(Swizzle::b128, 32, 16, 8), period + " " + period);
}
TEST(SwizzleTables, OfABoxNarrowerThanTheSpan) {
  const std::string period =
      "0123.... 1032.... 2301.... 3210.... ....0123 ....1032 ....2301 ....3210";
  EXPECT_EQ(table(Swizzle::b128, 16, 32, 8), period + " " + period + " " + period + " " + period);
}

}  // namespace
}  // namespace inflight::async
