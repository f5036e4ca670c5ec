// Texels' bytes and the values that reads return.
#include "gpu/texture/format.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace inflight::texture {
namespace {

template <class T>
Value of(Format format, As as, std::initializer_list<T> channels) {
  std::byte bytes[16] = {};
  std::memcpy(bytes, channels.begin(), channels.size() * sizeof(T));
  return decoder(format, as)(bytes);
}
std::uint32_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }

TEST(Format, IntegersKeepTheirSign) {
  EXPECT_EQ(of<std::int8_t>({Kind::signed_integer, 8, 2}, As::element, {-1, 5})[0], 0xffffffffu);
  EXPECT_EQ(of<std::uint8_t>({Kind::unsigned_integer, 8, 2}, As::element, {255, 5})[0], 255u);
  EXPECT_EQ(of<std::uint32_t>({Kind::unsigned_integer, 32, 1}, As::element, {0xfffffffe})[0],
            0xfffffffeu);
}

TEST(Format, NormalizedIntegersEndAtOne) {
  const Format u8{Kind::unsigned_integer, 8, 4};
  const Value v = of<std::uint8_t>(u8, As::normalized, {0, 51, 128, 255});
  EXPECT_EQ(v, (Value{bits(0), bits(0.2f), bits(128 / 255.0f), bits(1)}));
  const Format s16{Kind::signed_integer, 16, 2};
  const Value w = of<std::int16_t>(s16, As::normalized, {-32768, 32767});
  EXPECT_EQ(w[0], bits(-1));
  EXPECT_EQ(w[1], bits(1));
}

TEST(Format, HalvesOfColoursAreCutOff) {
  EXPECT_EQ(half_below(1.0f), 0x3c00);
  EXPECT_EQ(half_below(std::nextafter(1.0f, 0.0f)), 0x3bff);
  EXPECT_EQ(half_below(-std::nextafter(1.0f, 0.0f)), 0xbbff);
  EXPECT_EQ(half_below(1e6f), 0x7bff);
}

}  // namespace
}  // namespace inflight::texture
