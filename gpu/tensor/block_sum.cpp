// Alignment, truncation, exact sum, rounding.
#include "gpu/tensor/block_sum.hpp"

#include <algorithm>

namespace inflight::tensor {
namespace {

using Kind = Number::Kind;
__extension__ using Wide = __int128;
__extension__ using Magnitude = unsigned __int128;

std::uint64_t infinity_of(Element e, bool negative) {
  const Format& f = format(e);
  const std::uint64_t ones = (std::uint64_t{1} << f.exponent) - 1;
  return ones << f.fraction | std::uint64_t{negative} << (f.bits - 1);
}

int leading_bit(Magnitude m) {
  const auto high = static_cast<std::uint64_t>(m >> 64);
  return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(static_cast<std::uint64_t>(m));
}

// m / 2^drop, rounded to an integer.
std::uint64_t dropped(Magnitude m, int drop, bool to_nearest) {
  if (drop <= 0) return static_cast<std::uint64_t>(m << -drop);
  if (drop > 127) return 0;
  const auto whole = static_cast<std::uint64_t>(m >> drop);
  const Magnitude rest = m & ((Magnitude{1} << drop) - 1), half = Magnitude{1} << (drop - 1);
  const bool up = to_nearest && (rest > half || (rest == half && whole & 1));
  return whole + up;
}

// Rounds sum * 2^scale to the format `e`.
std::uint64_t rounded(Wide sum, int scale, Element e, Kept kept) {
  if (sum == 0) return 0;
  const Format& f = format(e);
  const bool negative = sum < 0;
  const auto magnitude = static_cast<Magnitude>(negative ? -sum : sum);
  int exponent = std::max(leading_bit(magnitude) + scale, f.least());
  // The lowest bit kept is 2^(exponent - kept.bits).
  std::uint64_t significand = dropped(magnitude, exponent - kept.bits - scale, kept.to_nearest)
                              << (f.fraction - kept.bits);
  const std::uint64_t one = std::uint64_t{1} << f.fraction;
  if (significand == 0) return 0;
  if (significand >= 2 * one) significand >>= 1, ++exponent;
  if (exponent > f.bias()) return infinity_of(e, negative);
  const std::uint64_t biased = significand < one ? 0 : static_cast<unsigned>(exponent + f.bias());
  return std::uint64_t{negative} << (f.bits - 1) | biased << f.fraction | (significand & (one - 1));
}

}  // namespace

Term times(const Number& x, const Number& y) {
  Term t;
  t.negative = x.negative != y.negative;
  t.exponent = x.exponent + y.exponent;
  t.fraction = x.fraction + y.fraction;
  t.significand = x.significand * y.significand;
  const auto zero = [](const Number& n) { return n.kind == Kind::finite && n.significand == 0; };
  if (x.kind == Kind::nan || y.kind == Kind::nan)
    t.kind = Kind::nan;
  else if (x.kind == Kind::infinity || y.kind == Kind::infinity)
    t.kind = zero(x) || zero(y) ? Kind::nan : Kind::infinity;
  return t;
}

Kept kept_of(Element accumulator, int fraction_bits) {
  const int most = format(accumulator).fraction;
  return accumulator == Element::f16 ? Kept{most, true}
                                     : Kept{std::min(most, fraction_bits), false};
}

std::uint64_t nan_of(Element e) { return e == Element::f16 ? 0x7fff : 0x7fffffff; }

std::uint64_t block_sum(std::span<const Term> terms, int fraction_bits, int least,
                        Element accumulator, Kept kept) {
  bool plus = false, minus = false;
  int largest = least;
  for (const Term& t : terms) {
    if (t.kind == Kind::nan) return nan_of(accumulator);
    if (t.kind == Kind::infinity) (t.negative ? minus : plus) = true;
    if (t.significand) largest = std::max(largest, t.exponent);
  }
  if (plus && minus) return nan_of(accumulator);
  if (plus || minus) return infinity_of(accumulator, minus);
  Wide sum = 0;
  for (const Term& t : terms) {
    if (!t.significand) continue;
    const int shift = fraction_bits - t.fraction + t.exponent - largest;
    const Magnitude s = t.significand;
    const auto aligned = static_cast<Wide>(shift >= 0     ? s << shift
                                           : shift < -127 ? 0
                                                          : s >> -shift);
    sum += t.negative ? -aligned : aligned;
  }
  return rounded(sum, largest - fraction_bits, accumulator, kept);
}

}  // namespace inflight::tensor
