// The arithmetic of each form: blocks of products, summed one after the other; the compiler's
// replacement for forms that an architecture lacks; chains of f64; integers.
#include "gpu/tensor/model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "gpu/tensor/block_sum.hpp"
#include "gpu/tensor/f64_chain.hpp"

namespace inflight::tensor {
namespace {

constexpr int most_terms = 129;

// Computes the outputs in one column of a floating-point product.
class Column {
 public:
  Column(const Numerics& numerics, const Product& product, const Matrices& matrices, int column)
      : numerics_(numerics), p_(product), at_(matrices), column_(column) {
    for (int k = 0; k < p_.k; ++k) {
      const std::size_t at = static_cast<std::size_t>(column) * p_.k + k;
      b_[k] = taken(p_.b, element_at(p_.b, at_.b, at), p_.negates_b);
    }
  }

  std::uint64_t output(int row) const {
    const std::size_t index = static_cast<std::size_t>(column_) * p_.m + row;
    const std::uint64_t c = at_.c ? element_at(p_.c, at_.c, index) : 0;
    if (p_.unit == Unit::quads && !numerics_.native_quads) return chained(row, c);
    Term products[most_terms];
    for (int i = 0; i < p_.values(); ++i) products[i] = times(a(row, i), b(row, i));
    return unpacks() ? unpacked(products, c) : in_blocks(products, c);
  }

 private:
  bool fp8() const { return format(p_.a).bits == 8; }
  bool unpacks() const {
    return fp8() && p_.unit == Unit::warp && numerics_.warp_fp8 == Numerics::Fp8::as_f16;
  }

  Number taken(Element e, std::uint64_t bits, bool negated) const {
    Number n = unpack(e, bits);
    n.negative ^= negated;
    return unpacks() ? as_f16(n) : n;
  }
  Number a(int row, int i) const {
    const std::size_t at = static_cast<std::size_t>(row) * p_.values() + i;
    return taken(p_.a, element_at(p_.a, at_.a, at), p_.negates_a);
  }
  const Number& b(int row, int i) const {
    return b_[p_.sparse ? at_.columns[row * p_.values() + i] : i];
  }

  // Converts a number to another format, in which a subnormal may be normal.
  static Number as(Element e, Number n) {
    while (n.significand && !(n.significand >> n.fraction) && n.exponent > format(e).least())
      n.significand <<= 1, --n.exponent;
    return n;
  }
  static Number as_f16(const Number& n) { return as(Element::f16, n); }

  std::uint64_t in_blocks(const Term* products, std::uint64_t c) const {
    const int bits = fp8() ? numerics_.fp8_fraction_bits : numerics_.fraction_bits;
    int most = numerics_.group_bytes * 8 / format(p_.a).bits;
    if (p_.most_at_once) most = std::min(most, p_.most_at_once);
    // If C and D have different formats, the sums are f32 and are rounded once more.
    const Element sums = p_.c == p_.d ? p_.d : Element::f32;
    Term terms[most_terms];
    Number sum = as(sums, unpack(p_.c, c));
    for (int done = 0; done < p_.values(); done += most) {
      const int count = std::min(most, p_.values() - done);
      std::copy_n(products + done, count, terms);
      terms[count] = sum;
      c = block_sum({terms, static_cast<std::size_t>(count) + 1}, bits, numerics_.least_exponent,
                    sums, kept_of(sums, bits));
      sum = unpack(sums, c);
    }
    return sums == p_.d ? c : to_f16(std::bit_cast<float>(static_cast<std::uint32_t>(c)));
  }

  // The IEEE sum, rounded to nearest. It keeps enough bits below the largest term for this.
  static std::uint64_t sum_of(Element e, std::span<const Term> terms) {
    return block_sum(terms, 64, 2 * format(e).least(), e, {format(e).fraction, true});
  }

  // Two f16 products, one of the values with i mod 4 in {0, 1} and then one of the others, are
  // summed from zero. The accumulator is added last.
  std::uint64_t unpacked(const Term* products, std::uint64_t c) const {
    Term terms[most_terms];
    std::uint64_t sum = 0;
    for (int half = 0; half < 2; ++half) {
      std::size_t count = 0;
      for (int i = 0; i < p_.values(); ++i)
        if (i / 2 % 2 == half) terms[count++] = products[i];
      terms[count++] = unpack(p_.d, sum);
      sum = block_sum({terms, count}, numerics_.fraction_bits, numerics_.least_exponent, p_.d,
                      kept_of(p_.d, numerics_.fraction_bits));
    }
    const Term both[] = {unpack(p_.d, sum), unpack(p_.c, c)};
    return sum_of(p_.d, both);
  }

  // Quads without a hardware unit compute in f32. The sum of two products is added to an f16
  // accumulator, then the sum of the other two. To an f32 accumulator, the sum of all is added.
  std::uint64_t chained(int row, std::uint64_t c) const {
    float x[4], y[4];
    for (int i = 0; i < 4; ++i) x[i] = real(a(row, i)), y[i] = real(b(row, i));
    const auto added = [&](int i, float to) { return std::fma(x[i], y[i], to); };
    const float start = real(unpack(p_.c, c));
    if (p_.d == Element::f16)
      return to_f16((start + added(1, x[0] * y[0])) + added(3, x[2] * y[2]));
    const float sum = added(3, added(2, added(1, added(0, 0.0F)))) + start;
    return std::isnan(sum) ? nan_of(p_.d) : std::bit_cast<std::uint32_t>(sum);
  }
  static float real(const Number& n) {
    if (n.kind == Number::Kind::nan) return std::nanf("");
    const float m = n.kind == Number::Kind::infinity
                        ? HUGE_VALF
                        : std::ldexp(static_cast<float>(n.significand), n.exponent - n.fraction);
    return n.negative ? -m : m;
  }
  static std::uint64_t to_f16(float sum) {
    const Term t = unpack(Element::f32, std::bit_cast<std::uint32_t>(sum));
    const std::uint64_t bits = sum_of(Element::f16, {&t, 1});
    return bits == 0 && std::signbit(sum) ? 0x8000 : bits;
  }

  const Numerics& numerics_;
  const Product& p_;
  const Matrices& at_;
  const int column_;
  Number b_[most_terms];
};

std::int64_t combined(const Product& p, std::int64_t x, std::int64_t y) {
  if (p.a != Element::b1) return x * y;
  return p.bits == BitOperation::and_popc ? x & y : x ^ y;
}

std::uint32_t integer_sum(const Product& p, const Matrices& at, int row, int column) {
  const std::size_t index = static_cast<std::size_t>(column) * p.m + row;
  std::int64_t sum = at.c ? integer_at(Element::s32, at.c, index) : 0;
  for (int i = 0; i < p.values(); ++i) {
    const std::size_t a = static_cast<std::size_t>(row) * p.values() + i;
    const std::size_t b = static_cast<std::size_t>(column) * p.k + (p.sparse ? at.columns[a] : i);
    sum += combined(p, integer_at(p.a, at.a, a), integer_at(p.b, at.b, b));
  }
  if (p.saturates) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<std::uint32_t>(sum);
}

}  // namespace

void outputs_of_the_model(const Numerics& numerics, const Product& product,
                          const Matrices& matrices, int column, std::span<const int> rows,
                          std::uint32_t* bits) {
  const Column of(numerics, product, matrices, column);
  for (const int row : rows) *bits++ = static_cast<std::uint32_t>(of.output(row));
}

void multiply_by_the_model(const Numerics& numerics, const Product& p, const Matrices& at) {
  if (p.a == Element::f64) return multiply_f64(p, at);
  const std::size_t bytes = format(p.d).bits / 8;
  auto* d = static_cast<std::byte*>(at.d);
  for (int column = 0; column < p.n; ++column) {
    std::optional<Column> floats;
    if (!format(p.a).is_integer()) floats.emplace(numerics, p, at, column);
    for (int row = 0; row < p.m; ++row, d += bytes) {
      const std::uint64_t bits = floats ? floats->output(row) : integer_sum(p, at, row, column);
      std::memcpy(d, &bits, bytes);
    }
  }
}

}  // namespace inflight::tensor
