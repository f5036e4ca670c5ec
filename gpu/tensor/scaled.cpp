// Aligns integers to a common exponent, truncates them and adds them exactly.
#include "gpu/tensor/scaled.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <vector>

#include "gpu/tensor/block_sum.hpp"

namespace inflight::tensor {
namespace {

using Kind = Number::Kind;

constexpr int no_exponent = -100000;
constexpr int group = 16;  // products that one adder takes at once
constexpr int most_values = 128;

// An element's integer significand and the exponent of its lowest bit.
struct Decoded {
  Kind kind = Kind::finite;
  bool negative = false;
  std::int32_t significand = 0;  // signed
  int exponent = 0, lowest = 0;  // raw, and of the lowest bit
};
using Table = std::array<Decoded, 256>;

Decoded decoded(const Number& n) {
  const auto size = static_cast<std::int32_t>(n.significand);
  return {n.kind, n.negative, n.negative ? -size : size, n.exponent, n.exponent - n.fraction};
}
const Table& table_of(Element e) {
  static const auto all = [] {
    std::array<Table, std::size(formats)> tables;
    for (const Element each :
         {Element::e4m3, Element::e5m2, Element::e2m3, Element::e3m2, Element::e2m1})
      for (unsigned bits = 0; bits < 256; ++bits)
        tables[static_cast<std::size_t>(each)][bits] = decoded(unpack(each, bits));
    return tables;
  }();
  return all[static_cast<std::size_t>(e)];
}

std::int64_t moved(std::int64_t value, int shift) {
  if (shift >= 0) return value << shift;
  if (shift < -62) return 0;
  return value < 0 ? -(-value >> -shift) : value >> -shift;
}

// sum * 2^lowest as f32, rounded towards zero.
std::uint32_t to_f32(std::int64_t sum, int lowest) {
  if (sum == 0) return 0;
  const std::uint32_t sign = sum < 0 ? 0x80000000u : 0;
  const std::uint64_t size = static_cast<std::uint64_t>(std::abs(sum));
  const int exponent = std::max(63 - std::countl_zero(size) + lowest, -126);
  if (exponent > 127) return sign | 0x7f800000;
  const auto significand =
      static_cast<std::uint32_t>(moved(static_cast<std::int64_t>(size), lowest - (exponent - 23)));
  if (significand == 0) return 0;
  if (significand < 1u << 23) return sign | significand;
  return sign | static_cast<std::uint32_t>(exponent + 127) << 23 | (significand & 0x7fffff);
}

// Infinities and NaNs of the terms of a sum.
struct Specials {
  bool nan = false, plus = false, minus = false;
  void add(bool negative) { (negative ? minus : plus) = true; }
  bool any() const { return nan || plus || minus; }
  std::uint32_t result() const {
    if (nan || (plus && minus)) return static_cast<std::uint32_t>(nan_of(Element::f32));
    return minus ? 0xff800000 : 0x7f800000;
  }
};

class Output {
 public:
  Output(const ScaledProduct& p, const ScaledMatrices& at)
      : p_(p), at_(at), a_(table_of(p.a)), b_(table_of(p.b)) {}

  std::uint32_t of(int row, int column) const {
    const std::uint8_t* const a = at_.a + std::ptrdiff_t{row} * p_.values();
    const std::uint8_t* const b = at_.b + std::ptrdiff_t{column} * p_.k;
    Number c;
    if (at_.c) c = unpack(Element::f32, at_.c[std::ptrdiff_t{column} * p_.m + row]);
    Number scale_a[4], scale_b[4];
    Specials specials;
    if (c.kind == Kind::nan) specials.nan = true;
    if (c.kind == Kind::infinity) specials.add(c.negative);
    for (int i = 0; i < p_.blocks; ++i) {
      scale_a[i] = unpack(p_.scale, at_.scale_a[row * p_.blocks + i]);
      scale_b[i] = unpack(p_.scale, at_.scale_b[column * p_.blocks + i]);
      specials.nan |= scale_a[i].kind == Kind::nan || scale_b[i].kind == Kind::nan;
    }
    const std::uint8_t* const chosen =
        p_.sparse ? at_.columns + std::ptrdiff_t{row} * p_.values() : nullptr;
    return p_.exact_groups ? in_groups(a, b, scale_a, scale_b, decoded(c), specials)
                           : at_once(a, b, chosen, scale_a[0], scale_b[0], decoded(c), specials);
  }

 private:
  // Each product is truncated to 25 bits below the largest exponent.
  std::uint32_t at_once(const std::uint8_t* a, const std::uint8_t* b, const std::uint8_t* chosen,
                        const Number& scale_a, const Number& scale_b, const Decoded& c,
                        Specials specials) const {
    constexpr int fraction_bits = 25;
    const int scale = scale_a.exponent + scale_b.exponent;
    const int sign = p_.negates_a != p_.negates_b ? -1 : 1;
    int largest = c.significand ? c.exponent : no_exponent;
    std::int32_t products[most_values];
    int exponents[most_values];
    for (int i = 0; i < p_.values(); ++i) {
      const Decoded &x = a_[a[i]], &y = b_[b[chosen ? chosen[i] : i]];
      products[i] = sign * x.significand * y.significand;
      exponents[i] = x.lowest + y.lowest + scale;
      if (x.kind != Kind::finite || y.kind != Kind::finite) [[unlikely]]
        special(x, y, specials);
      if (products[i]) largest = std::max(largest, x.exponent + y.exponent + scale);
    }
    if (specials.any()) return specials.result();
    if (largest == no_exponent) return 0;
    const int lowest = largest - fraction_bits;
    std::int64_t sum = moved(c.significand, c.lowest - lowest);
    for (int i = 0; i < p_.values(); ++i) sum += moved(products[i], exponents[i] - lowest);
    return to_f32(sum, lowest);
  }

  void special(const Decoded& x, const Decoded& y, Specials& to) const {
    const auto zero = [](const Decoded& d) { return d.kind == Kind::finite && !d.significand; };
    if (x.kind == Kind::nan || y.kind == Kind::nan || zero(x) || zero(y))
      to.nan = true;
    else
      to.add((x.negative != y.negative) != (p_.negates_a != p_.negates_b));
  }

  // e2m1: sums of some products with one pair of scales are exact before they are truncated.
  std::uint32_t in_groups(const std::uint8_t* a, const std::uint8_t* b, const Number* scale_a,
                          const Number* scale_b, const Decoded& c, const Specials& specials) const {
    constexpr int window = 35, product_window = 39, small_group = 4;
    if (specials.any()) return specials.result();
    const int in_block = p_.k / p_.blocks;
    int of_products = no_exponent, of_scales = no_exponent;
    for (int i = 0; i < p_.blocks; ++i) {
      if (!scale_a[i].significand || !scale_b[i].significand) continue;
      const int scale = scale_a[i].exponent + scale_b[i].exponent;
      of_scales = std::max(of_scales, scale);
      for (int k = i * in_block; k < (i + 1) * in_block; ++k) {
        const Decoded &x = a_[a[k]], &y = b_[b[k]];
        if (x.significand && y.significand)
          of_products = std::max(of_products, x.exponent + y.exponent + scale);
      }
    }
    const bool by_c = c.significand && c.exponent >= of_products;
    if (!c.significand && of_products == no_exponent) return 0;
    int lowest =
        by_c ? c.exponent - window : std::max(of_products - product_window, of_scales - window);
    if (by_c && of_products == no_exponent) lowest = c.exponent - window;
    const int count = p_.scale == Scale::ue4m3 && !by_c ? small_group : group;
    std::int64_t sum = moved(c.significand, c.lowest - lowest);
    for (int first = 0; first < p_.k; first += count) {
      const int block = first / in_block;
      const std::int64_t scale = static_cast<std::int64_t>(scale_a[block].significand) *
                                 static_cast<std::int64_t>(scale_b[block].significand);
      // In quarters: an e2m1 is a multiple of one half.
      std::int64_t quarters = 0;
      for (int k = first; k < first + count; ++k) {
        const Decoded &x = a_[a[k]], &y = b_[b[k]];
        quarters +=
            std::int64_t{x.significand << (x.lowest + 1)} * (y.significand << (y.lowest + 1));
      }
      const int exponent = scale_a[block].exponent - scale_a[block].fraction +
                           scale_b[block].exponent - scale_b[block].fraction - 2;
      sum += moved(quarters * scale, exponent - lowest);
    }
    return to_f32(sum, lowest);
  }

  const ScaledProduct& p_;
  const ScaledMatrices& at_;
  const Table &a_, &b_;
};

}  // namespace

Number unpack(Scale scale, std::uint8_t bits) {
  if (scale == Scale::ue4m3) return unpack(Element::e4m3, bits & 0x7f);
  Number n;
  n.kind = bits == 0xff ? Kind::nan : Kind::finite;
  n.exponent = bits - 127;
  n.significand = 1;
  return n;
}

void multiply(const ScaledProduct& p, const ScaledMatrices& at) {
  const Output output(p, at);
  std::uint32_t* d = at.d;
  for (int column = 0; column < p.n; ++column)
    for (int row = 0; row < p.m; ++row) *d++ = output.of(row, column);
}

}  // namespace inflight::tensor
