// The operands of floating products as the core has them. Included only by float_core.cpp.
#pragma once
#include <type_traits>

#include "gpu/tensor/decode.hpp"
#include "gpu/tensor/product.hpp"

namespace inflight::tensor::INFLIGHT_ISA {

constexpr int most_depth = 64, most_rows = 64, columns_at_once = 8;
// Exponents of products between which everything here is a normal f32.
constexpr std::int32_t low = -100, high = 125;

// As many rows of A as there are lanes, by columns.
struct Rows {
  Floats value[most_depth];
  Ints exponent[most_depth];  // twice a lane, for two columns
  Ints least, most, special;
};
// Some columns of B.
struct Columns {
  alignas(64) float value[columns_at_once * most_depth];
  // Of two columns each. Vectors reach past the last.
  alignas(64) std::int32_t exponent[columns_at_once / 2 * most_depth + lanes];
  std::int32_t least, most;
  bool special;
};

// What a product is, prepared once.
struct Plan {
  const Numerics* numerics;
  const Product* product;
  const Matrices* matrices;
  int depth;  // of B
  int group;  // of it are summed at once
  int fraction_bits;
  Element sums;        // what groups are rounded to
  std::uint32_t kept;  // bits of an f32 sum
  bool one_sum;        // a single group of present values, with the accumulator
  bool unpacked;       // f8 as f16: the accumulator comes last
  std::uint8_t order[most_depth];
};

inline Plan plan_of(const Numerics& n, const Product& p, const Matrices& at) {
  Plan plan{&n, &p,    &at,   p.k, 0, n.fraction_bits, p.c == p.d ? p.d : Element::f32,
            0,  false, false, {}};
  const bool fp8 = format(p.a).bits == 8;
  plan.unpacked = fp8 && p.unit == Unit::warp && n.warp_fp8 == Numerics::Fp8::as_f16;
  if (fp8 && !plan.unpacked) plan.fraction_bits = n.fp8_fraction_bits;
  plan.group = plan.unpacked ? p.k / 2 : n.group_bytes * 8 / format(p.a).bits;
  if (p.most_at_once && p.most_at_once < plan.group) plan.group = p.most_at_once;
  if (p.sparse) plan.group *= 2;
  plan.one_sum = plan.group >= p.k && !plan.unpacked && !p.sparse;
  const int dropped = 23 - (plan.fraction_bits < 23 ? plan.fraction_bits : 23);
  plan.kept = ~((1U << dropped) - 1);
  for (int i = 0; plan.unpacked && i < p.k; ++i) {
    const int half = p.k / 2, in_half = i % half;
    plan.order[i] = static_cast<std::uint8_t>(in_half / 2 * 4 + i / half * 2 + in_half % 2);
  }
  return plan;
}

template <Element E>
[[gnu::always_inline]] inline Decoded element(Bits raw, const Plan& plan, Bits sign) {
  Decoded d = decode<E>(raw);
  if (E == Element::e4m3 && plan.unpacked) d.exponent = exponent_of(d.value, -14);
  d.value = as<Floats>(as<Bits>(d.value) ^ sign);
  return d;
}

struct Range {
  Ints least = Ints{} + 1000, most = Ints{} + no_exponent, special = {};
  template <Element E>
  [[gnu::always_inline]] void take(const Decoded& d) {
    special |= d.special;
    if constexpr (formats[static_cast<int>(E)].exponent < 8) return;  // always in range
    const Ints finite = pick(d.special, Ints{} + no_exponent, d.exponent);
    least = smaller(least, pick(finite == no_exponent, Ints{} + 1000, finite));
    most = larger(most, finite);
  }
};

template <Element E>
void decode_rows(const Plan& plan, int first, Rows& rows) {
  constexpr int bits = formats[static_cast<int>(E)].bits, a_word = 32 / bits;
  constexpr std::uint32_t ones = 0xffffffffU >> (32 - bits);
  const Product& p = *plan.product;
  const int words = p.values() / a_word;
  const Bits sign = Bits{} + (p.negates_a ? 0x80000000U : 0U);
  Range range;
  for (int w = 0; w < words; ++w) {
    const Bits word = word_of_rows(plan.matrices->a, words, first, p.m - 1, w);
    for (int i = 0; i < a_word; ++i) {
      const Bits raw = word >> (i * bits) & ones;
      const Decoded d = element<E>(raw, plan, sign);
      range.take<E>(d);
      rows.value[w * a_word + i] = d.value;
      rows.exponent[w * a_word + i] = pair_of(d.exponent, d.exponent);
    }
  }
  rows.least = range.least, rows.most = range.most, rows.special = range.special;
}

// A sparse row's values go to their columns; zeros are between them.
inline void spread_rows(const Plan& plan, int first, Rows& rows) {
  const Product& p = *plan.product;
  static_assert(sizeof(Floats) == sizeof(Ints));
  Rows wide;
  const Ints none = pair_of(Ints{} + no_exponent, Ints{} + no_exponent);
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

// Pairs of columns' exponents, from all columns' one after the other.
inline void pair_columns(const std::int32_t* exponents, int depth, Columns& columns) {
  for (int j = 0; j < columns_at_once; j += 2)
    for (int k = 0; k < depth; k += lanes) {
      const std::int32_t* const from = exponents + j * depth + k;
      store(columns.exponent + j / 2 * depth + k,
            pair_of(load<Ints>(from), load<Ints>(from + depth)));
    }
}

template <Element E>
void decode_columns(const Plan& plan, int first, Columns& columns) {
  constexpr int bytes = formats[static_cast<int>(E)].bits / 8;
  using Packed = std::conditional_t<bytes == 1, std::uint8_t,
                                    std::conditional_t<bytes == 2, std::uint16_t, std::uint32_t>>;
  const Product& p = *plan.product;
  const auto* const from = static_cast<const Packed*>(plan.matrices->b) + first * p.k;
  const Bits sign = Bits{} + (p.negates_b ? 0x80000000U : 0U);
  alignas(64) std::int32_t exponents[columns_at_once * most_depth + lanes];
  Range range;
  for (int i = 0; i < columns_at_once * p.k; i += lanes) {
    const Decoded d = element<E>(widened<Packed>(from + i), plan, sign);
    range.take<E>(d);
    store(columns.value + i, d.value);
    store(exponents + i, d.exponent);
  }
  pair_columns(exponents, p.k, columns);
  columns.least = 1000, columns.most = no_exponent, columns.special = any(range.special);
  for (int l = 0; l < lanes; ++l) {
    columns.least = range.least[l] < columns.least ? range.least[l] : columns.least;
    columns.most = range.most[l] > columns.most ? range.most[l] : columns.most;
  }
}

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
                {Element::e5m2, decode_rows<Element::e5m2>, decode_columns<Element::e5m2>}};

}  // namespace inflight::tensor::INFLIGHT_ISA
