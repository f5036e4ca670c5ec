// The model's rules, one by one, on results of single dot products.
#include "gpu/tensor/model.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace inflight::tensor {
namespace {

using Halves = std::vector<std::uint16_t>;
constexpr std::uint16_t one = 0x3c00, two = 0x4000, infinity = 0x7c00, nan = 0x7e01;

// The sum of f16 products and c on sm_`number`.
std::uint32_t dot(Halves a, Halves b, float c, int number = 90) {
  Product p{.m = 1, .n = 1, .k = 16};
  a.resize(16), b.resize(16);
  std::uint32_t d = 0;
  multiply_by_the_model(numerics_of(number), p, {a.data(), b.data(), &c, &d});
  return d;
}
std::uint32_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }

TEST(Model, ProductsAreExact) {
  EXPECT_EQ(dot({0x3c01}, {0x3c01}, 0), bits(0x1.00801p0F));
  EXPECT_EQ(dot({1}, {1}, 0), bits(0x1p-48F));
}

TEST(Model, TermsKeepFractionBitsOfTheLargest) {
  const std::uint16_t small = 0x0c00;  // 2^-12
  EXPECT_EQ(dot({small, small}, {small, small}, 1), bits(0x1.000002p0F));
  // 2^-25 twice is 2^-24, which is truncated. Four times it is an ulp, but only on Hopper.
  const std::uint16_t half = 0x0800;  // 2^-13
  EXPECT_EQ(dot({small, small, small, small}, {half, half, half, half}, 1), bits(0x1.000002p0F));
  EXPECT_EQ(dot({small, small, small, small}, {half, half, half, half}, 1, 80), bits(1));
}

TEST(Model, SumsAreRoundedTowardsZero) {
  EXPECT_EQ(dot({0x0c00}, {0x0c00}, -0x1.fffffep0F), bits(-0x1.fffffcp0F));
  EXPECT_EQ(dot({0x0c00}, {0x0c00}, 0x1.fffffep1F), bits(0x1.fffffep1F));
}

TEST(Model, AmpereSumsHalvesOneAfterTheOther) {
  Halves a(16), b(16);
  a[0] = b[0] = a[1] = 0x6c00, b[1] = 0xec00;  // 2^24 and -2^24
  a[8] = 0x1400, b[8] = one;                   // 2^-10, which one group cuts off
  EXPECT_EQ(dot(a, b, 0, 90), 0u);
  EXPECT_EQ(dot(a, b, 0, 80), bits(0x1p-10F));
}

TEST(Model, ThereIsOneNaN) {
  EXPECT_EQ(dot({nan}, {one}, 0), 0x7fffffffu);
  EXPECT_EQ(dot({infinity}, {0}, 0), 0x7fffffffu);
  EXPECT_EQ(dot({infinity, infinity}, {one, static_cast<std::uint16_t>(one | 0x8000)}, 0),
            0x7fffffffu);
  EXPECT_EQ(dot({infinity}, {two}, 0), bits(__builtin_inff()));
}

}  // namespace
}  // namespace inflight::tensor
