// Weighted sums of texels with an H200's rounding.
#include "gpu/texture/filter.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

namespace inflight::texture {
namespace {

template <class T>
std::uint32_t mixed(Format format, As as, const std::vector<T>& texels,
                    const std::vector<std::uint32_t>& weights) {
  Mix mix;
  mix.begin_quad();
  for (std::size_t i = 0; i < texels.size(); ++i)
    mix.add(reinterpret_cast<const std::byte*>(&texels[i]), weights[i]);
  return filter_of(format, as)(mix)[0];
}
float floats(const std::vector<float>& texels, const std::vector<std::uint32_t>& weights) {
  return std::bit_cast<float>(mixed({Kind::floating, 32, 1}, As::element, texels, weights));
}

TEST(Filter, HalvesAreRoundedAwayFromZero) {
  const float next = std::nextafter(1.0f, 2.0f), after = std::nextafter(next, 2.0f);
  EXPECT_EQ(floats({1, next}, {128, 128}), next);
  EXPECT_EQ(floats({-1, -next}, {128, 128}), -next);
  EXPECT_EQ(floats({next, after}, {128, 128}), after);
}

// Bits more than four below the greatest texel's last are lost, even if the greatest has little
// weight.
TEST(Filter, TexelsAreAlignedToTheGreatest) {
  EXPECT_EQ(floats({1, 0x1p-28f}, {1, 255}), 0x1p-8f);
  EXPECT_GT(floats({1, 0x1p-27f}, {1, 255}), 0x1p-8f);
  EXPECT_EQ(floats({1, 0x1p-28f}, {0, 256}), 0x1p-28f);
}

TEST(Filter, DenormalsAreZerosAndNoNumberStaysNone) {
  EXPECT_EQ(floats({1e-40f, 1e-40f}, {128, 128}), 0);
  const auto nan = mixed<float>({Kind::floating, 32, 1}, As::element, {NAN, 1}, {1, 255});
  EXPECT_EQ(nan, 0x7fffffffu);
}

TEST(Filter, HalvesGiveElevenBits) {
  const Format half{Kind::floating, 16, 1};
  const std::vector<std::uint16_t> texels{0x3c00, 0x3c01};  // 1, and the next
  EXPECT_EQ(mixed(half, As::element, texels, {128, 128}),
            std::bit_cast<std::uint32_t>(1 + 0x1p-10f));
  EXPECT_EQ(mixed(half, As::element, texels, {130, 126}), std::bit_cast<std::uint32_t>(1.0f));
}

TEST(Filter, BytesAreMixedWithSixteenBits) {
  const Format u8{Kind::unsigned_integer, 8, 1}, s8{Kind::signed_integer, 8, 1};
  EXPECT_EQ(mixed<std::uint8_t>(u8, As::normalized, {0, 1}, {128, 128}),
            std::bit_cast<std::uint32_t>(129 / 65535.0f));
  EXPECT_EQ(mixed<std::int8_t>(s8, As::normalized, {127, -128}, {128, 128}),
            std::bit_cast<std::uint32_t>(-129 / 32767.0f));
  EXPECT_EQ(mixed<std::int8_t>(s8, As::normalized, {-128, -128}, {128, 128}),
            std::bit_cast<std::uint32_t>(-1.0f));
}

// Two reads of an H100. The bright texel of the first one's second probe truncates the first
// probe's sum to a multiple of 2^-18. In the second one the probes of the dark level are added
// before.
TEST(Filter, ProbesOfLightLoseBitsTogether) {
  const Format u8{Kind::unsigned_integer, 8, 1};
  const auto light = [&](const std::vector<std::vector<std::uint8_t>>& codes,
                         const std::vector<std::vector<std::uint32_t>>& weights, unsigned level) {
    Mix mix;
    mix.all = 512, mix.second_level = level;
    for (std::size_t q = 0; q < codes.size(); ++q) {
      mix.begin_quad();
      for (std::size_t i = 0; i < codes[q].size(); ++i)
        mix.add(reinterpret_cast<const std::byte*>(&codes[q][i]), weights[q][i]);
    }
    return std::bit_cast<float>(filter_of(u8, As::srgb)(mix)[0]);
  };
  EXPECT_EQ(light({{39, 63}, {109, 39}}, {{137, 119}, {81, 175}}, 32), 401920 * 0x1p-23f);
  EXPECT_EQ(light({{20, 21}, {20}, {234}, {234}}, {{168, 76}, {244}, {12}, {12}}, 2),
            380928 * 0x1p-23f);
}

TEST(Filter, IntegersAsTheyAreAreRoundedUpAtHalves) {
  const Format s16{Kind::signed_integer, 16, 1}, u8{Kind::unsigned_integer, 8, 1};
  EXPECT_EQ(mixed<std::uint8_t>(u8, As::element, {0, 10}, {192, 64}), 3u);
  EXPECT_EQ(mixed<std::int16_t>(s16, As::element, {-1, -2}, {128, 128}), std::uint32_t(-1));
  EXPECT_EQ(mixed<std::int16_t>(s16, As::element, {-1, -2}, {127, 129}), std::uint32_t(-2));
}

TEST(Filter, IntegersOf32BitsAreRoundedDown) {
  const Format u32{Kind::unsigned_integer, 32, 1}, s32{Kind::signed_integer, 32, 1};
  EXPECT_EQ(mixed<std::uint32_t>(u32, As::element, {0, 4294967295}, {1, 255}), 4278190079u);
  EXPECT_EQ(mixed<std::int32_t>(s32, As::element, {0, -1}, {255, 1}), std::uint32_t(-1));
}

}  // namespace
}  // namespace inflight::texture
