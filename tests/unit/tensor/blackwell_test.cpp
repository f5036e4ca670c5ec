// The sums of tcgen05.mma against words that a B200 gave, and rules that follow from the model.
#include <gtest/gtest.h>

#include <cstring>

#include "gpu/tensor/model.hpp"
#include "tests/unit/tensor/blackwell_words.hpp"

namespace inflight::tensor {
namespace {

// Packs one row (or column) of elements.
std::vector<std::byte> packed(Element e, const std::vector<std::uint32_t>& values) {
  const std::size_t bytes = format(e).bits / 8u;
  std::vector<std::byte> out(values.size() * bytes);
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(out.data() + i * bytes, &values[i], bytes);
  return out;
}

// The fast core takes whole vectors of rows and columns, so the row and the column are repeated.
TEST(Blackwell, GivesTheRecordedWordsWithoutScales) {
  constexpr int rows = 64, columns = 8;
  for (const PlainWord& word : plain_words) {
    std::vector<std::byte> a, b;
    for (int i = 0; i < rows; ++i)
      for (const std::byte each : packed(word.element, word.a)) a.push_back(each);
    for (int i = 0; i < columns; ++i)
      for (const std::byte each : packed(word.element, word.b)) b.push_back(each);
    const std::vector<std::uint32_t> c(rows * columns, word.c);
    const Product p{.a = word.element,
                    .b = word.element,
                    .m = rows,
                    .n = columns,
                    .k = static_cast<int>(word.a.size()),
                    .unit = Unit::warpgroup};
    for (const auto by : {multiply, multiply_by_the_model}) {
      std::vector<std::uint32_t> d(c.size());
      by(numerics_of(100), p, {.a = a.data(), .b = b.data(), .c = c.data(), .d = d.data()});
      for (const std::uint32_t each : d)
        ASSERT_EQ(each, word.d) << static_cast<int>(word.element) << std::hex;
    }
  }
}

TEST(Blackwell, GivesTheRecordedWordsOfScaledE2m1) {
  for (const ScaledWord& word : scaled_words) {
    const ScaledProduct p{.m = 1,
                          .n = 1,
                          .k = 64,
                          .blocks = static_cast<int>(word.scale_a.size()),
                          .exact_groups = true,
                          .scale = word.scale};
    std::uint32_t d = 0;
    multiply(p, {.a = word.a.data(),
                 .b = word.b.data(),
                 .scale_a = word.scale_a.data(),
                 .scale_b = word.scale_b.data(),
                 .c = &word.c,
                 .d = &d});
    EXPECT_EQ(d, word.d) << std::hex;
  }
}

// One row of 8-bit elements with scales whose product is 1 is an unscaled product.
TEST(Blackwell, ScalesOnlyMoveExponents) {
  for (const PlainWord& word : plain_words) {
    if (format(word.element).bits != 8) continue;
    const std::vector<std::uint8_t> a(word.a.begin(), word.a.end()),
        b(word.b.begin(), word.b.end());
    const std::uint8_t up = 127 + 20, down = 127 - 20;
    std::uint32_t d = 0;
    multiply(
        {.a = word.element, .b = word.element, .m = 1, .n = 1, .k = 32},
        {.a = a.data(), .b = b.data(), .scale_a = &up, .scale_b = &down, .c = &word.c, .d = &d});
    EXPECT_EQ(d, word.d) << static_cast<int>(word.element) << std::hex;
  }
}

std::uint32_t one_product(Element e, std::uint8_t a, std::uint8_t b, std::uint8_t scale,
                          const std::uint32_t* c = nullptr) {
  std::vector<std::uint8_t> row(32), column(32);
  row[3] = a, column[3] = b;
  const std::uint8_t one = 127;
  std::uint32_t d = 0;
  multiply(
      {.a = e, .b = e, .m = 1, .n = 1, .k = 32},
      {.a = row.data(), .b = column.data(), .scale_a = &scale, .scale_b = &one, .c = c, .d = &d});
  return d;
}

TEST(Blackwell, KnowsSpecialScalesAndElements) {
  constexpr std::uint32_t nan = 0x7fffffff, infinity = 0x7f800000, minus_zero = 0x80000000;
  EXPECT_EQ(one_product(Element::e4m3, 0x38, 0x38, 128), 0x40000000u);  // 1 * 1 * 2
  EXPECT_EQ(one_product(Element::e4m3, 0x38, 0x38, 0xff), nan);
  EXPECT_EQ(one_product(Element::e4m3, 0x7f, 0x38, 127), nan);
  EXPECT_EQ(one_product(Element::e5m2, 0x7c, 0x3c, 127), infinity);
  EXPECT_EQ(one_product(Element::e5m2, 0xfc, 0x3c, 127), infinity | minus_zero);
  EXPECT_EQ(one_product(Element::e5m2, 0x7c, 0, 127), nan);
  EXPECT_EQ(one_product(Element::e4m3, 0, 0, 127, &minus_zero), 0u);
}

}  // namespace
}  // namespace inflight::tensor
