// The decoded operands of floating-point products. Included only by float_core.cpp.
#pragma once
#include <type_traits>

#include "gpu/tensor/decode.hpp"
#include "gpu/tensor/product.hpp"

namespace inflight::tensor::INFLIGHT_ISA {

constexpr int most_depth = 64, most_rows = 64, columns_at_once = 8, quad = 4;
// If all exponents of products are in this range, all values here are normal f32 numbers.
constexpr std::int32_t low = -100, high = 125;

// An exponent is stored as a byte, the code: the exponent minus a base. For formats with an 8-bit
// exponent the base is the lane's largest exponent minus 63. The code of a zero, and of exponents
// too small for a byte, is -128. So the sum of two codes is exact if it is above -65.
constexpr std::int32_t most_code = 63, no_code = -128, least_right_sum = -64;

// `lanes` rows of A, column by column.
struct Rows {
  Floats value[most_depth];
  Ints exponent[most_depth];  // the code four times per lane, for four columns
  Ints base, least, most, special;
};
// Some columns of B.
struct Columns {
  alignas(64) float value[columns_at_once * most_depth];
  // The codes of four columns in each word. Vector loads reach past the last.
  alignas(64) std::int32_t exponent[columns_at_once / quad * most_depth + lanes];
  std::int32_t base, least, most;
  bool special;
};

// The parameters of a product, prepared once.
struct Plan {
  const Numerics* numerics;
  const Product* product;
  const Matrices* matrices;
  int depth;  // of B
  int group;  // how many of B's rows are summed at once
  int fits;   // how many of them have sums that fit into an integer
  int fraction_bits;
  Element sums;        // the format to which groups are rounded
  std::uint32_t kept;  // mask of the bits of an f32 sum that stay
  bool one_sum;        // dense, and one group that includes the accumulator
  bool unpacked;       // f8 computed as f16: the accumulator is added last
  std::uint8_t order[most_depth];
  // The index in k of the i-th product that is summed.
  std::ptrdiff_t at(std::ptrdiff_t i) const { return unpacked ? order[i] : i; }
};

inline Plan plan_of(const Numerics& n, const Product& p, const Matrices& at) {
  Plan plan{&n, &p,    &at,   p.k, 0, 0, n.fraction_bits, p.c == p.d ? p.d : Element::f32,
            0,  false, false, {}};
  const bool fp8 = format(p.a).bits == 8;
  plan.unpacked = fp8 && p.unit == Unit::warp && n.warp_fp8 == Numerics::Fp8::as_f16;
  if (fp8 && !plan.unpacked) plan.fraction_bits = n.fp8_fraction_bits;
  plan.group = plan.unpacked ? p.k / 2 : n.group_bytes * 8 / format(p.a).bits;
  if (p.most_at_once && p.most_at_once < plan.group) plan.group = p.most_at_once;
  // A product of two significands is below 4.
  plan.fits = 1 << (29 - plan.fraction_bits);
  if (p.sparse) plan.group *= 2, plan.fits *= 2;
  plan.one_sum = plan.group >= p.k && !plan.unpacked && !p.sparse;
  const int dropped = 23 - (plan.fraction_bits < 23 ? plan.fraction_bits : 23);
  plan.kept = ~((1U << dropped) - 1);
  for (int i = 0; plan.unpacked && i < p.k; ++i) {
    const int half = p.k / 2, in_half = i % half;
    plan.order[i] = static_cast<std::uint8_t>(in_half / 2 * 4 + i / half * 2 + in_half % 2);
  }
  return plan;
}

// The range of exponents, for formats whose products may leave the range of f32. Also, whether
// elements are infinite or NaN.
struct Range {
  Bits most = {}, least = ~Bits{};  // magnitudes; `least` ignores zeros and is one less
  Ints special = {};
  template <Element E>
  [[gnu::always_inline]] void take(Bits magnitude) {
    most = larger(most, magnitude);
    if constexpr (format_of<E>.exponent == 8) least = smaller(least, magnitude - 1);
  }
  template <Element E>
  [[gnu::always_inline]] Ints most_exponent() const {
    if constexpr (format_of<E>.exponent < 8) return Ints{};
    return pick(as<Ints>(most) == 0, Ints{} + no_exponent, exponent_of_magnitude<E>(most));
  }
  template <Element E>
  [[gnu::always_inline]] Ints least_exponent() const {
    if constexpr (format_of<E>.exponent < 8) return Ints{};
    return pick(as<Ints>(least) == -1, Ints{} - no_exponent, exponent_of_magnitude<E>(least + 1));
  }
};

// With `marks`, infinities and NaN become those of f32 and do not count in the range.
template <Element E, bool marks>
[[gnu::always_inline]] inline Decoded element(Bits raw, const Plan& plan, Bits sign, Range& range) {
  Bits magnitude = parts_of<E>(raw).magnitude;
  Decoded d;
  if constexpr (marks) {
    d = decode<E>(raw);
    range.special |= d.special;
    magnitude &= as<Bits>(~d.special);
  } else {
    d = finite<E>(parts_of<E>(raw));
  }
  range.take<E>(magnitude);
  if (E == Element::e4m3 && plan.unpacked) d.exponent = exponent_of(d.value, -14);
  d.value = as<Floats>(as<Bits>(d.value) ^ sign);
  return d;
}
// The base of a format's exponents, given the largest exponent.
template <Element E>
[[gnu::always_inline]] inline Ints base_of(Ints most) {
  return format_of<E>.exponent < 8 ? Ints{} : most - most_code;
}
[[gnu::always_inline]] inline Ints code_of(Ints exponent, Ints base) {
  return larger(exponent - base, Ints{} + no_code);
}
template <Element E>
[[gnu::always_inline]] inline bool all_finite(const Range& range) {
  return !any(as<Ints>(range.most) >= static_cast<std::int32_t>(least_special<E>));
}

template <Element E, bool marks>
[[gnu::always_inline]] inline Range decode_rows_as(const Plan& plan, const Bits* words, int count,
                                                   Rows& rows) {
  constexpr int bits = format_of<E>.bits, a_word = 32 / bits;
  constexpr std::uint32_t ones = 0xffffffffU >> (32 - bits);
  const Bits sign = Bits{} + (plan.product->negates_a ? 0x80000000U : 0U);
  Range range;
  for (int w = 0; w < count; ++w)
    for (int i = 0; i < a_word; ++i) {
      const Decoded d = element<E, marks>(words[w] >> (i * bits) & ones, plan, sign, range);
      rows.value[w * a_word + i] = d.value;
      rows.exponent[w * a_word + i] = d.exponent;
    }
  return range;
}

template <Element E>
void decode_rows(const Plan& plan, int first, Rows& rows) {
  const Product& p = *plan.product;
  const int count = p.values() * format_of<E>.bits / 32;
  Bits words[most_depth];
  words_of_rows(plan.matrices->a, count, first, p.m - 1, words);
  Range range = decode_rows_as<E, false>(plan, words, count, rows);
  if (!all_finite<E>(range)) range = decode_rows_as<E, true>(plan, words, count, rows);
  rows.least = range.least_exponent<E>(), rows.most = range.most_exponent<E>();
  rows.base = base_of<E>(rows.most);
  rows.special = range.special;
  for (int k = 0; k < p.values(); ++k) {
    const Ints code = code_of(rows.exponent[k], rows.base);
    rows.exponent[k] = four_of(code, code, code, code);
  }
}

// Spreads a sparse row's values to their columns, with zeros between them.
inline void spread_rows(const Plan& plan, int first, Rows& rows) {
  const Product& p = *plan.product;
  static_assert(sizeof(Floats) == sizeof(Ints));
  Rows wide;
  const Ints no = Ints{} + no_code, none = four_of(no, no, no, no);
  for (int k = 0; k < p.k; ++k) wide.value[k] = Floats{}, wide.exponent[k] = none;
  auto* const values = reinterpret_cast<float*>(wide.value);
  auto* const exponents = reinterpret_cast<std::int32_t*>(wide.exponent);
  for (int l = 0; l < lanes && first + l < p.m; ++l)
    for (int i = 0; i < p.values(); ++i) {
      const int k = plan.matrices->columns[(first + l) * p.values() + i];
      values[k * lanes + l] = rows.value[i][l];
      exponents[k * lanes + l] = rows.exponent[i][l];
    }
  for (int k = 0; k < p.k; ++k) rows.value[k] = wide.value[k], rows.exponent[k] = wide.exponent[k];
}

template <class Packed>
[[gnu::always_inline]] inline Bits widened(const void* at) {
  using Vector [[gnu::vector_size(lanes * sizeof(Packed))]] = Packed;
  return __builtin_convertvector(load<Vector>(at), Bits);
}

// Packs the exponents of four columns into each word.
inline void pack_exponents(const std::int32_t* exponents, int depth, Columns& columns) {
  const Ints base = Ints{} + columns.base;
  for (int j = 0; j < columns_at_once; j += quad)
    for (int k = 0; k < depth; k += lanes) {
      const auto code = [&](int column) {
        return code_of(load<Ints>(exponents + (j + column) * depth + k), base);
      };
      store(columns.exponent + j / quad * depth + k, four_of(code(0), code(1), code(2), code(3)));
    }
}

template <Element E, bool marks>
[[gnu::always_inline]] inline Range decode_columns_as(const Plan& plan, int first, float* values,
                                                      std::int32_t* exponents) {
  constexpr int bytes = format_of<E>.bits / 8;
  using Packed = std::conditional_t<bytes == 1, std::uint8_t,
                                    std::conditional_t<bytes == 2, std::uint16_t, std::uint32_t>>;
  const Product& p = *plan.product;
  const auto* const from = static_cast<const Packed*>(plan.matrices->b) + first * p.k;
  const Bits sign = Bits{} + (p.negates_b ? 0x80000000U : 0U);
  Range range;
  for (int i = 0; i < columns_at_once * p.k; i += lanes) {
    const Decoded d = element<E, marks>(widened<Packed>(from + i), plan, sign, range);
    store(values + i, d.value);
    store(exponents + i, d.exponent);
  }
  return range;
}

template <Element E>
void decode_columns(const Plan& plan, int first, Columns& columns) {
  alignas(64) std::int32_t exponents[columns_at_once * most_depth + lanes];
  Range range = decode_columns_as<E, false>(plan, first, columns.value, exponents);
  if (!all_finite<E>(range))
    range = decode_columns_as<E, true>(plan, first, columns.value, exponents);
  columns.special = any(range.special);
  range.most = Bits{} + chosen_lane(range.most, [](Bits x, Bits y) { return larger(x, y); });
  range.least = Bits{} + chosen_lane(range.least, [](Bits x, Bits y) { return smaller(x, y); });
  const Ints most = range.most_exponent<E>();
  columns.least = range.least_exponent<E>()[0], columns.most = most[0];
  columns.base = base_of<E>(most)[0];
  pack_exponents(exponents, plan.product->k, columns);
}

// Caches the rows decoded last, because programs multiply one A by several B in succession.
class KeptRows {
 public:
  // Returns the rows of A, in groups of `lanes`.
  template <class Decode>
  const Rows* of(const Plan& plan, Decode decode) {
    const Product& p = *plan.product;
    const auto bytes =
        packed_bytes(p.a, static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.values()));
    const Form form{p.a, p.negates_a, plan.unpacked, p.m, p.values()};
    if (!p.sparse && form == form_ && std::memcmp(a_, plan.matrices->a, bytes) == 0) return rows_;
    form_ = p.sparse ? Form{} : form;
    std::memcpy(a_, plan.matrices->a, bytes);
    for (int row = 0; row < p.m; row += lanes) {
      decode(plan, row, rows_[row / lanes]);
      if (p.sparse) spread_rows(plan, row, rows_[row / lanes]);
    }
    return rows_;
  }

 private:
  struct Form {
    Element element = Element::f16;
    bool negated = false, unpacked = false;
    int m = 0, values = 0;
    bool operator==(const Form&) const = default;
  };
  Form form_;
  alignas(64) std::byte a_[most_rows * most_depth * 4];
  Rows rows_[most_rows / lanes];
};

using RowDecoder = void (*)(const Plan&, int, Rows&);
using ColumnDecoder = void (*)(const Plan&, int, Columns&);
constexpr struct {
  Element element;
  RowDecoder rows;
  ColumnDecoder columns;
} decoders[] = {{Element::f16, decode_rows<Element::f16>, decode_columns<Element::f16>},
                {Element::bf16, decode_rows<Element::bf16>, decode_columns<Element::bf16>},
                {Element::tf32, decode_rows<Element::tf32>, decode_columns<Element::tf32>},
                {Element::e4m3, decode_rows<Element::e4m3>, decode_columns<Element::e4m3>},
                {Element::e5m2, decode_rows<Element::e5m2>, decode_columns<Element::e5m2>},
                {Element::e2m3, decode_rows<Element::e2m3>, decode_columns<Element::e2m3>},
                {Element::e3m2, decode_rows<Element::e3m2>, decode_columns<Element::e3m2>},
                {Element::e2m1, decode_rows<Element::e2m1>, decode_columns<Element::e2m1>}};

}  // namespace inflight::tensor::INFLIGHT_ISA
