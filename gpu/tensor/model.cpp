// Block fused multiply-add: the products are exact. They and the accumulator are aligned to the
// largest exponent, where a product's is the sum of its factors' (its significand, below 4, is not
// normalised first). Each is truncated to F fraction bits, their sum is exact, and it is rounded
// once: f32 towards zero, f16 to nearest even. Subnormals count, and there is one NaN.
#include "gpu/tensor/model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace inflight::tensor {
namespace {

using Kind = Number::Kind;
using Wide = __int128;

// A term of the sum; its value is as a Number's.
using Term = Number;

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

// How a sum becomes an accumulator.
struct Rounding {
  int kept;         // fraction bits
  bool to_nearest;  // or towards zero
};

constexpr std::uint64_t nan_of(Element e) { return e == Element::f16 ? 0x7fff : 0x7fffffff; }
std::uint64_t infinity_of(Element e, bool negative) {
  const Format& f = format(e);
  const std::uint64_t ones = (std::uint64_t{1} << f.exponent) - 1;
  return ones << f.fraction | std::uint64_t{negative} << (f.bits - 1);
}

// sum * 2^scale as an `e`.
std::uint64_t rounded(Wide sum, int scale, Element e, Rounding how) {
  if (sum == 0) return 0;
  const Format& f = format(e);
  const bool negative = sum < 0;
  auto magnitude = static_cast<unsigned __int128>(negative ? -sum : sum);
  int top = 127;  // the leading bit
  while (!(magnitude >> top & 1)) --top;
  int exponent = std::max(top + scale, f.least());
  // The lowest bit kept is 2^(exponent - kept): a subnormal keeps less of its own.
  const int drop = exponent - std::min<int>(how.kept, f.fraction) - scale;
  std::uint64_t significand;
  if (drop <= 0) {
    significand = static_cast<std::uint64_t>(magnitude << -drop);
  } else if (drop > 127) {
    significand = 0;
  } else {
    significand = static_cast<std::uint64_t>(magnitude >> drop);
    const auto rest = magnitude & (((unsigned __int128){1} << drop) - 1);
    const auto half = (unsigned __int128){1} << (drop - 1);
    if (how.to_nearest && (rest > half || (rest == half && significand & 1))) ++significand;
  }
  significand <<= f.fraction - std::min<int>(how.kept, f.fraction);
  const std::uint64_t one = std::uint64_t{1} << f.fraction;
  if (significand >= 2 * one) significand >>= 1, ++exponent;
  if (exponent > f.bias()) return infinity_of(e, negative);
  const std::uint64_t biased = significand < one ? 0 : static_cast<unsigned>(exponent + f.bias());
  return std::uint64_t{negative} << (f.bits - 1) | biased << f.fraction | (significand & (one - 1));
}

std::uint64_t fused_sum(std::span<const Term> terms, int fraction_bits, int least, Element e,
                        Rounding how) {
  bool plus = false, minus = false;
  int largest = least;
  for (const Term& t : terms) {
    if (t.kind == Kind::nan) return nan_of(e);
    if (t.kind == Kind::infinity) (t.negative ? minus : plus) = true;
    if (t.significand) largest = std::max(largest, t.exponent);
  }
  if (plus && minus) return nan_of(e);
  if (plus || minus) return infinity_of(e, minus);
  Wide sum = 0;
  for (const Term& t : terms) {
    const int shift = fraction_bits - t.fraction + t.exponent - largest;
    const auto s = static_cast<unsigned __int128>(t.significand);
    const auto kept = static_cast<Wide>(shift >= 0 ? s << shift : shift < -127 ? 0 : s >> -shift);
    sum += t.negative ? -kept : kept;
  }
  return rounded(sum, largest - fraction_bits, e, how);
}

// One output of a floating product.
class Output {
 public:
  Output(const Numerics& numerics, const Product& product, const Matrices& matrices)
      : numerics_(numerics), p_(product), at_(matrices) {}

  std::uint64_t value(int row, int column) const {
    const std::size_t index = static_cast<std::size_t>(column) * p_.m + row;
    const std::uint64_t c = at_.c ? element_at(p_.c, at_.c, index) : 0;
    Term products[512];
    const int count = p_.values();
    for (int i = 0; i < count; ++i) products[i] = product(row, column, i);
    const bool fp8 = format(p_.a).bits == 8;
    if (fp8 && p_.unit == Unit::warp && numerics_.warp_fp8 == Numerics::Fp8::as_f16)
      return unpacked(products, row, c);
    return accumulated({products, static_cast<std::size_t>(count)}, format(p_.a).bits / 8, fp8, c);
  }

 private:
  int column_of(int row, int i) const { return p_.sparse ? at_.columns[row * p_.values() + i] : i; }

  Term product(int row, int column, int i) const {
    const std::size_t a = static_cast<std::size_t>(row) * p_.values() + i;
    const std::size_t b = static_cast<std::size_t>(column) * p_.k + column_of(row, i);
    Number x = take_apart(p_.a, element_at(p_.a, at_.a, a));
    Number y = take_apart(p_.b, element_at(p_.b, at_.b, b));
    x.negative ^= p_.negates_a, y.negative ^= p_.negates_b;
    return times(x, y);
  }

  std::uint64_t accumulated(std::span<Term> products, int bytes, bool fp8, std::uint64_t c) const {
    const int bits = fp8 ? numerics_.fp8_fraction_bits : numerics_.fraction_bits;
    const std::size_t group = static_cast<std::size_t>(numerics_.group_bytes / bytes);
    const Rounding how{p_.d == Element::f16 ? 10 : std::min(bits, 23), p_.d == Element::f16};
    Element from = p_.c;
    Term terms[513];
    for (std::size_t done = 0; done < products.size(); done += group) {
      const std::size_t count = std::min(group, products.size() - done);
      std::copy_n(products.begin() + done, count, terms);
      terms[count] = take_apart(from, c);
      c = fused_sum({terms, count + 1}, bits, numerics_.least_exponent, p_.d, how);
      from = p_.d;
    }
    return c;
  }

  // Two multiplications of f16, one of the elements with k mod 4 in {0, 1} and one of the others,
  // start from zero; the accumulator is added in f32, to nearest.
  std::uint64_t unpacked(Term* products, int row, std::uint64_t c) const {
    Term terms[513];
    std::uint64_t sum = 0;
    for (int half = 0; half < 2; ++half) {
      std::size_t count = 0;
      for (int i = 0; i < p_.values(); ++i)
        if (column_of(row, i) / 2 % 2 == half) terms[count++] = products[i];
      terms[count++] = take_apart(Element::f32, sum);
      sum = fused_sum({terms, count}, numerics_.fraction_bits, numerics_.least_exponent,
                      Element::f32, {23, false});
    }
    const float total = std::bit_cast<float>(static_cast<std::uint32_t>(c)) +
                        std::bit_cast<float>(static_cast<std::uint32_t>(sum));
    return std::isnan(total) ? nan_of(Element::f32) : std::bit_cast<std::uint32_t>(total);
  }

  const Numerics& numerics_;
  const Product& p_;
  const Matrices& at_;
};

// f64: fused multiply-adds, one after the other.
double fused_chain(const Product& p, const Matrices& at, int row, int column) {
  const auto* a = static_cast<const double*>(at.a) + static_cast<std::size_t>(row) * p.k;
  const auto* b = static_cast<const double*>(at.b) + static_cast<std::size_t>(column) * p.k;
  double sum = at.c ? static_cast<const double*>(at.c)[column * p.m + row] : 0;
  for (int i = 0; i < p.k; ++i) sum = std::fma(a[i], b[i], sum);
  return sum;
}

std::int64_t combined(const Product& p, std::int64_t x, std::int64_t y) {
  if (p.a != Element::b1) return x * y;
  return p.bits == BitOperation::and_popc ? x & y : x ^ y;
}

std::int32_t integer_sum(const Product& p, const Matrices& at, int row, int column) {
  const std::size_t index = static_cast<std::size_t>(column) * p.m + row;
  std::int64_t sum = at.c ? integer_at(Element::s32, at.c, index) : 0;
  for (int i = 0; i < p.values(); ++i) {
    const std::size_t a = static_cast<std::size_t>(row) * p.values() + i;
    const std::size_t b = static_cast<std::size_t>(column) * p.k + (p.sparse ? at.columns[a] : i);
    sum += combined(p, integer_at(p.a, at.a, a), integer_at(p.b, at.b, b));
  }
  using Limits = std::numeric_limits<std::int32_t>;
  if (p.saturates) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
  return static_cast<std::int32_t>(sum);
}

}  // namespace

void multiply_by_the_model(const Numerics& numerics, const Product& p, const Matrices& at) {
  const Output output(numerics, p, at);
  const std::size_t bytes = format(p.d).bits / 8;
  for (int column = 0; column < p.n; ++column)
    for (int row = 0; row < p.m; ++row) {
      std::uint64_t bits;
      if (p.a == Element::f64)
        bits = std::bit_cast<std::uint64_t>(fused_chain(p, at, row, column));
      else if (format(p.a).is_integer())
        bits = static_cast<std::uint32_t>(integer_sum(p, at, row, column));
      else
        bits = output.value(row, column);
      std::memcpy(
          static_cast<std::byte*>(at.d) + (static_cast<std::size_t>(column) * p.m + row) * bytes,
          &bits, bytes);
    }
}

}  // namespace inflight::tensor
