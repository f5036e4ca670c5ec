// The fast code gives the model's results to the bit, on random matrices of every kind of value.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gpu/tensor/model.hpp"

namespace inflight::tensor {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

enum class Values { near_one, any, wide, tiny, special, cancelling };
constexpr Values mixtures[] = {Values::near_one, Values::any,     Values::wide,
                               Values::tiny,     Values::special, Values::cancelling};

// The bits of a floating-point element.
std::uint64_t floating(Element e, Values values, Random& random) {
  const Format& f = format(e);
  const int stored = f.fraction + f.ignored;
  const std::uint64_t ones = (std::uint64_t{1} << f.exponent) - 1;
  const std::uint64_t sign = (random() & 1) << (f.bits - 1);
  std::uint64_t fraction = random() & ((std::uint64_t{1} << stored) - 1);
  std::uint64_t exponent = random() % ones;
  const auto bias = static_cast<std::uint64_t>(f.bias());
  if (values == Values::near_one) exponent = bias - 3 + random() % 6;
  if (values == Values::tiny) exponent = random() % 3;
  if (values == Values::cancelling) exponent = bias, fraction = random() % 3;
  if (values == Values::special && random() % 8 == 0) {
    exponent = random() % 2 ? ones : 0;
    fraction = random() % 2 ? fraction : 0;
  }
  if (values == Values::any) return random() & (~std::uint64_t{0} >> (64 - f.bits));
  return sign | exponent << stored | fraction;
}

Bytes matrix(Element e, int count, Values values, Random& random) {
  Bytes bytes(packed_bytes(e, static_cast<std::size_t>(count)));
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
  const std::size_t size = format(e).bits / 8;
  if (format(e).is_integer()) return bytes;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const std::uint64_t bits = floating(e, values, random);
    std::memcpy(bytes.data() + at, &bits, size);
  }
  return bytes;
}

// Two of each four columns, in order; for tf32 one of each two; for 4 bits two pairs of each eight.
std::vector<std::uint8_t> columns_of(const Product& p, Random& random) {
  std::vector<std::uint8_t> columns;
  const int unit = format(p.a).bits == 4 ? 2 : 1;
  for (int row = 0; row < p.m; ++row)
    for (int first = 0; first < p.k; first += p.a == Element::tf32 ? 2 : 4 * unit) {
      if (p.a == Element::tf32) {
        columns.push_back(static_cast<std::uint8_t>(first + static_cast<int>(random() % 2)));
        continue;
      }
      const int one = static_cast<int>(random() % 3);
      const int other = one + 1 + static_cast<int>(random() % static_cast<unsigned>(3 - one));
      for (const int chosen : {one, other})
        for (int i = 0; i < unit; ++i)
          columns.push_back(static_cast<std::uint8_t>(first + chosen * unit + i));
    }
  return columns;
}

void expect_equal(const Numerics& numerics, const Product& p, Values values, Random& random,
                  const std::string& what) {
  const Bytes a = matrix(p.a, p.m * p.values(), values, random),
              b = matrix(p.b, p.n * p.k, values, random),
              c = matrix(p.c, p.m * p.n, values, random);
  const auto columns = columns_of(p, random);
  Bytes fast(packed_bytes(p.d, static_cast<std::size_t>(p.m * p.n))), slow = fast;
  const void* const start = random() % 8 ? c.data() : nullptr;
  multiply(numerics, p, {a.data(), b.data(), start, fast.data(), columns.data()});
  multiply_by_the_model(numerics, p, {a.data(), b.data(), start, slow.data(), columns.data()});
  for (std::size_t i = 0; i < static_cast<std::size_t>(p.m * p.n); ++i)
    ASSERT_EQ(element_at(p.d, fast.data(), i), element_at(p.d, slow.data(), i))
        << what << ", sm_" << numerics.sm << ", values " << static_cast<int>(values) << ", row "
        << i % static_cast<std::size_t>(p.m) << ", column " << i / static_cast<std::size_t>(p.m);
}

struct Kind {
  Element a, b, c, d;
  int k;
};
constexpr Kind kinds[] = {{Element::f16, Element::f16, Element::f32, Element::f32, 16},
                          {Element::f16, Element::f16, Element::f16, Element::f16, 16},
                          {Element::f16, Element::f16, Element::f32, Element::f16, 16},
                          {Element::f16, Element::f16, Element::f16, Element::f32, 8},
                          {Element::bf16, Element::bf16, Element::f32, Element::f32, 16},
                          {Element::tf32, Element::tf32, Element::f32, Element::f32, 8},
                          {Element::tf32, Element::tf32, Element::f32, Element::f32, 4},
                          {Element::e4m3, Element::e4m3, Element::f32, Element::f32, 32},
                          {Element::e4m3, Element::e5m2, Element::f16, Element::f16, 32},
                          {Element::e5m2, Element::e4m3, Element::f32, Element::f32, 16},
                          {Element::s8, Element::u8, Element::s32, Element::s32, 32},
                          {Element::u8, Element::s8, Element::s32, Element::s32, 16},
                          {Element::s4, Element::u4, Element::s32, Element::s32, 64},
                          {Element::b1, Element::b1, Element::s32, Element::s32, 256},
                          {Element::f64, Element::f64, Element::f64, Element::f64, 16}};

std::string name_of(const Kind& kind) {
  return "kind " + std::to_string(static_cast<int>(kind.a)) + " " +
         std::to_string(static_cast<int>(kind.b)) + " to " +
         std::to_string(static_cast<int>(kind.d));
}
Product product_of(const Kind& kind) {
  return {.a = kind.a, .b = kind.b, .c = kind.c, .d = kind.d, .m = 16, .n = 8, .k = kind.k};
}

// True if an architecture supports this kind of product.
bool exists(const Numerics& numerics, const Kind& kind) {
  const bool fp8 = kind.a == Element::e4m3 || kind.a == Element::e5m2;
  return !fp8 || numerics.warp_fp8 != Numerics::Fp8::absent;
}

constexpr int times = 12;

TEST(Cores, GiveWhatTheModelGives) {
  Random random(1);
  for (const int sm : {70, 80, 89, 90, 100})
    for (const Kind& kind : kinds)
      for (const Values values : mixtures)
        for (int i = 0; i < times && exists(numerics_of(sm), kind); ++i) {
          Product p = product_of(kind);
          p.saturates = random() % 2;
          p.m = random() % 2 ? 16 : 8;
          expect_equal(numerics_of(sm), p, values, random, name_of(kind));
        }
}

TEST(Cores, GiveWhatTheModelGivesOfSparseRows) {
  Random random(2);
  for (const int sm : {80, 90, 100})
    for (const Kind& kind : kinds) {
      if (kind.a == Element::b1 || kind.a == Element::f64) continue;
      if (!exists(numerics_of(sm), kind)) continue;
      for (const Values values : mixtures)
        for (int i = 0; i < times; ++i) {
          Product p = product_of(kind);
          p.sparse = true, p.k = format(kind.a).bits == 4 ? 128 : 2 * kind.k;
          expect_equal(numerics_of(sm), p, values, random, "sparse " + name_of(kind));
        }
    }
}

TEST(Cores, GiveWhatTheModelGivesToAWarpgroup) {
  Random random(3);
  for (const Kind& kind : kinds) {
    if (kind.a == Element::f64 || format(kind.a).bits == 4) continue;
    for (const Values values : mixtures) {
      Product p = product_of(kind);
      p.m = 64, p.n = 24, p.unit = Unit::warpgroup;
      p.negates_a = random() % 2, p.negates_b = random() % 2;
      if (format(p.a).is_integer()) p.negates_a = p.negates_b = false;
      expect_equal(numerics_of(90), p, values, random, "wgmma " + name_of(kind));
    }
  }
}

TEST(Cores, SumFewerProductsAtOnceWhereAFormDoes) {
  Random random(4);
  for (const Values values : mixtures)
    for (int i = 0; i < times; ++i) {
      Product p = product_of(kinds[5]);
      p.most_at_once = 4;
      expect_equal(numerics_of(90), p, values, random, "tf32 of four");
    }
}

}  // namespace
}  // namespace inflight::tensor
