// Adds the exponents of the scales to those of the products, or scales exact sums of 16 products.
#include "gpu/tensor/warp_scales.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "gpu/tensor/block_sum.hpp"

namespace inflight::tensor {
namespace {

using Kind = Number::Kind;

constexpr int group = 16;  // 4-bit products that are summed exactly
constexpr int most_products = 32, most_groups = 4, most_blocks = 4;
constexpr int fraction_bits = 25, group_fraction_bits = 35;
constexpr int least_exponent = -133, exponent_of_zero = -126;
constexpr Kept kept{23, false};

Number scale_of(const WarpScales& scales, std::uint8_t bits) {
  if (scales.is_ue4m3) return unpack(Element::e4m3, bits & 0x7f);
  Number n;
  n.exponent = bits - 127;
  n.significand = 1;
  if (bits == 0xff) n.kind = Kind::nan;
  return n;
}

// The product of the scales of block `i`.
Number both(const WarpScales& scales, const std::uint8_t* a, const std::uint8_t* b, int i) {
  return times(scale_of(scales, a[i]), scale_of(scales, b[i]));
}

class Output {
 public:
  Output(const Product& p, const WarpScales& scales, const WarpScaledMatrices& at)
      : p_(p), scales_(scales), at_(at) {}

  std::uint64_t of(int row, int column) const {
    const std::uint8_t* const a = at_.scale_a + std::ptrdiff_t{row} * scales_.blocks;
    const std::uint8_t* const b = at_.scale_b + std::ptrdiff_t{column} * scales_.blocks;
    std::array<Number, most_blocks> scale;
    for (int i = 0; i < scales_.blocks; ++i) {
      scale[i] = both(scales_, a, b, i);
      if (scale[i].kind == Kind::nan) return nan_of(Element::f32);
    }
    const Number c = unpack(Element::f32, at_.c[std::ptrdiff_t{column} * p_.m + row]);
    return at_.packed ? in_groups(row, column, scale, c) : at_once(row, column, scale[0], c);
  }

 private:
  Number element(const void* matrix, Element e, int line, int k) const {
    const std::size_t at = static_cast<std::size_t>(line) * static_cast<std::size_t>(p_.k) +
                           static_cast<std::size_t>(k);
    return unpack(e, element_at(at_.packed ? Element::u4 : e, matrix, at));
  }
  Term product(int row, int column, int k) const {
    return times(element(at_.a, p_.a, row, k), element(at_.b, p_.b, column, k));
  }

  std::uint64_t at_once(int row, int column, const Number& scale, const Number& c) const {
    std::array<Term, most_products + 1> terms;
    for (int k = 0; k < p_.k; ++k) {
      terms[k] = product(row, column, k);
      terms[k].exponent += scale.exponent;
    }
    terms[p_.k] = c;
    return block_sum({terms.data(), static_cast<std::size_t>(p_.k) + 1}, fraction_bits,
                     least_exponent, Element::f32, kept);
  }

  // The scales and C alone determine the alignment.
  std::uint64_t in_groups(int row, int column, const std::array<Number, most_blocks>& scale,
                          const Number& c) const {
    std::array<Term, most_groups + 1> terms;
    int largest = c.significand ? c.exponent : exponent_of_zero;
    const int groups = p_.k / group, groups_a_block = groups / scales_.blocks;
    for (int g = 0; g < groups; ++g) {
      const Number& s = scale[g / groups_a_block];
      std::int64_t sum = 0;
      for (int k = g * group; k < (g + 1) * group; ++k) sum += quarters(product(row, column, k));
      Term& t = terms[g];
      t.negative = sum < 0;
      t.exponent = s.exponent;
      t.fraction = s.fraction + 2;
      t.significand = static_cast<std::uint64_t>(sum < 0 ? -sum : sum) * s.significand;
      if (s.significand) largest = std::max(largest, s.exponent);
    }
    terms[groups] = c;
    return block_sum({terms.data(), static_cast<std::size_t>(groups) + 1}, group_fraction_bits,
                     largest, Element::f32, kept);
  }
  // A product of e2m1, a multiple of 1/4, times 4.
  static std::int64_t quarters(const Term& t) {
    const auto size = static_cast<std::int64_t>(t.significand << t.exponent);
    return t.negative ? -size : size;
  }

  const Product& p_;
  const WarpScales& scales_;
  const WarpScaledMatrices& at_;
};

}  // namespace

void multiply_scaled(const Product& product, const WarpScales& scales,
                     const WarpScaledMatrices& matrices) {
  const Output output(product, scales, matrices);
  for (int column = 0; column < product.n; ++column)
    for (int row = 0; row < product.m; ++row)
      matrices.d[std::ptrdiff_t{column} * product.m + row] =
          static_cast<std::uint32_t>(output.of(row, column));
}

}  // namespace inflight::tensor
