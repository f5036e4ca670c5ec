// Floating products of some rows at once, equal to the model's to the bit.
//
// A product of two elements is exact in f32. Times 2^(F - largest exponent) and converted to an
// integer, which truncates, it is the model's aligned term; integers add exactly. What this does
// not hold for (infinities, NaN, exponents that leave f32) is left to the model, output by output.
#include <type_traits>

#include "gpu/tensor/cores.hpp"
#include "gpu/tensor/decode.hpp"
#include "gpu/tensor/model.hpp"

namespace inflight::tensor::INFLIGHT_ISA {
namespace {

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
  bool unpacked;       // f8 as f16: the accumulator comes last
  std::uint8_t order[most_depth];
};

Plan plan_of(const Numerics& n, const Product& p, const Matrices& at) {
  Plan plan{&n, &p, &at, p.k, 0, n.fraction_bits, p.c == p.d ? p.d : Element::f32, 0, false, {}};
  const bool fp8 = format(p.a).bits == 8;
  plan.unpacked = fp8 && p.unit == Unit::warp && n.warp_fp8 == Numerics::Fp8::as_f16;
  if (fp8 && !plan.unpacked) plan.fraction_bits = n.fp8_fraction_bits;
  plan.group = plan.unpacked ? p.k / 2 : n.group_bytes * 8 / format(p.a).bits;
  if (p.most_at_once && p.most_at_once < plan.group) plan.group = p.most_at_once;
  if (p.sparse) plan.group *= 2;
  const int dropped = 23 - (plan.fraction_bits < 23 ? plan.fraction_bits : 23);
  plan.kept = ~((1U << dropped) - 1);
  for (int i = 0; plan.unpacked && i < p.k; ++i) {
    const int half = p.k / 2, in_half = i % half;
    plan.order[i] = static_cast<std::uint8_t>(in_half / 2 * 4 + i / half * 2 + in_half % 2);
  }
  return plan;
}

// --- operands ---

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
    least = smaller(least, pick(d.exponent == no_exponent, Ints{} + 1000, d.exponent));
    most = larger(most, d.exponent);
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
void spread_rows(const Plan& plan, int first, Rows& rows) {
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
void pair_columns(const std::int32_t* exponents, int depth, Columns& columns) {
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

// --- accumulators ---

struct Sum {
  Floats value;
  Ints exponent;
};

// A column from some row on, which may have fewer than all lanes.
template <class T>
Bits accumulator_bits(const void* at, std::size_t index, int count) {
  const T* const from = static_cast<const T*>(at) + index;
  if (count == lanes) return widened<T>(from);
  Bits bits;
  for (int l = 0; l < lanes; ++l) bits[l] = from[l < count ? l : 0];
  return bits;
}
template <class T>
void put(void* d, std::size_t index, int count, const Bits& bits) {
  T* const to = static_cast<T*>(d) + index;
  using Vector [[gnu::vector_size(lanes * sizeof(T))]] = T;
  if (count == lanes) return store(to, __builtin_convertvector(bits, Vector));
  for (int l = 0; l < count; ++l) to[l] = static_cast<T>(bits[l]);
}

// C as the first group takes it; `special` gets its lanes that are none of finite numbers.
Sum start_of(const Plan& plan, int row, int column, Ints& special) {
  const Product& p = *plan.product;
  if (!plan.matrices->c) return {Floats{}, Ints{} + no_exponent};
  const std::size_t at = static_cast<std::size_t>(column) * static_cast<std::size_t>(p.m) +
                         static_cast<std::size_t>(row);
  const int count = p.m - row < lanes ? p.m - row : lanes;
  const Decoded d =
      p.c == Element::f16
          ? decode<Element::f16>(accumulator_bits<std::uint16_t>(plan.matrices->c, at, count))
          : decode<Element::f32>(accumulator_bits<std::uint32_t>(plan.matrices->c, at, count));
  special |= d.special;
  const bool widened = p.c == Element::f16 && plan.sums == Element::f32;
  return {d.value, widened ? exponent_of(d.value, -126) : d.exponent};
}

// To nearest even, of values that are odd where they were cut off.
[[gnu::always_inline]] inline Bits to_f16(Floats value) {
  const Bits bits = as<Bits>(value), magnitude = bits & 0x7fffffff;
  const Bits small = as<Bits>(as<Floats>(magnitude) + as<Floats>(Bits{} + 0x3f000000)) - 0x3f000000;
  const Bits normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112U << 23)) >> 13;
  const Ints is_small = as<Ints>(magnitude) < 0x38800000,
             is_large = as<Ints>(magnitude) >= 0x47800000;
  const Ints rounded =
      pick(is_large, Ints{} + 0x7c00, pick(is_small, as<Ints>(small), as<Ints>(normal)));
  return as<Bits>(rounded) | (bits >> 16 & 0x8000);
}
[[gnu::always_inline]] inline Floats from_f16(Bits bits) {
  const Decoded d = decode<Element::f16>(bits);
  const Ints infinite = as<Ints>((Bits{} + 0x7f800000) | (bits & 0x8000) << 16);
  return as<Floats>(pick(d.special, infinite, as<Ints>(d.value)));
}

// Towards zero.
[[gnu::always_inline]] inline Floats cut_off(Ints v) {
#ifdef __AVX512F__
  return as<Floats>(_mm512_maskz_cvt_roundepi32_ps(0xffff, as<__m512i>(v),
                                                   _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
#else
  const Floats nearest = to_floats(v);
  const Ints back = truncated(nearest);
  const auto size = [](Ints x) { return as<Bits>(x < 0 ? -x : x); };
  return as<Floats>(as<Bits>(nearest) + as<Bits>(size(back) > size(v)));  // one less where larger
#endif
}

// x + y; lanes where it does not fit are bad.
[[gnu::always_inline]] inline Ints fitting_sum(Ints x, Ints y, Ints& bad) {
  const Ints sum = as<Ints>(as<Bits>(x) + as<Bits>(y));
  bad |= ((x ^ sum) & (y ^ sum)) < 0;
  return sum;
}

// A group's sum of integers, rounded: total * 2^(largest - F).
[[gnu::always_inline]] inline Floats rounded(const Plan& plan, Ints total, Ints largest) {
  const Floats unit = as<Floats>((largest - plan.fraction_bits + 127) << 23);
  const Floats cut = cut_off(total);
  if (plan.sums == Element::f32) return as<Floats>(as<Bits>(cut * unit) & plan.kept);
  const Ints odd = (truncated(cut) != total) & 1;
  const Bits h = to_f16(as<Floats>(as<Ints>(cut) | odd) * unit);
  return from_f16(as<Bits>(pick(as<Ints>(h) == 0x8000, Ints{}, as<Ints>(h))));
}

// --- the sums of a vector of rows and N columns ---

// `Ordered`: k goes in the plan's order.
template <bool Ordered, int N>
[[gnu::always_inline]] inline void sums_of(const Plan& plan, const Rows& rows, const float* b,
                                           const std::int32_t* b_exponents, Sum (&sums)[N],
                                           Ints (&bad)[N]) {
  const std::ptrdiff_t depth = plan.depth, group = plan.group;
  const std::int32_t least = plan.sums == Element::f16 ? -14 : -126;
  const auto at = [&plan](std::ptrdiff_t i) {
    return Ordered ? static_cast<std::ptrdiff_t>(plan.order[i]) : i;
  };
  for (std::ptrdiff_t done = 0; done < depth; done += group) {
    const std::ptrdiff_t end = done + group < depth ? done + group : depth;
    Ints largest[N];
    for (int j = 0; j < N; ++j) {
      bad[j] |= as<Ints>(as<Bits>(sums[j].value) & 0x7fffffff) >= 0x7f800000;
      largest[j] = larger(sums[j].exponent, Ints{} + plan.numerics->least_exponent);
    }
    Shorts pairs[N / 2];
    for (int j = 0; j < N; j += 2) pairs[j / 2] = as<Shorts>(pair_of(largest[j], largest[j + 1]));
    for (std::ptrdiff_t i = done; i < end; ++i) {
      const auto e = as<Shorts>(rows.exponent[at(i)]);
      const std::int32_t* const other = b_exponents + at(i);
      for (int j = 0; j < N / 2; ++j)
        pairs[j] = larger(pairs[j], e + as<Shorts>(Ints{} + other[j * depth]));
    }
    for (int j = 0; j < N; j += 2) {
      largest[j] = low_of(as<Ints>(pairs[j / 2]));
      largest[j + 1] = high_of(as<Ints>(pairs[j / 2]));
    }
    Floats scale[N];
    Ints first[N], second[N];
    for (int j = 0; j < N; ++j) {
      bad[j] |= largest[j] < low;
      scale[j] = as<Floats>((plan.fraction_bits + 127 - largest[j]) << 23);
      first[j] = second[j] = Ints{};
    }
    for (std::ptrdiff_t i = done; i < end; i += 2) {
      const Floats x = rows.value[at(i)], y = rows.value[at(i + 1)];
      const float *const p = b + at(i), *const q = b + at(i + 1);
      for (int j = 0; j < N; ++j) {
        first[j] += truncated(x * p[j * depth] * scale[j]);
        second[j] += truncated(y * q[j * depth] * scale[j]);
      }
    }
    for (int j = 0; j < N; ++j) {
      const Ints c = truncated(sums[j].value * scale[j]);
      const Ints total = fitting_sum(fitting_sum(first[j], second[j], bad[j]), c, bad[j]);
      sums[j].value = rounded(plan, total, largest[j]);
      if (end < depth) sums[j].exponent = exponent_of(sums[j].value, least);
    }
  }
}

// The accumulator that comes last, and the result's format.
Bits result_of(const Plan& plan, Sum sum, const Sum& c) {
  if (plan.unpacked) sum.value += c.value;
  if (plan.product->d == Element::f32) return as<Bits>(sum.value);
  return to_f16(sum.value);
}

std::size_t index_of(const Product& p, int row, int column) {
  return static_cast<std::size_t>(column) * static_cast<std::size_t>(p.m) +
         static_cast<std::size_t>(row);
}
int count_from(const Product& p, int row) { return p.m - row < lanes ? p.m - row : lanes; }

// The lanes that the model computes.
[[gnu::noinline]] void leave_to_the_model(const Plan& plan, int row, int column, Ints bad,
                                          Bits& bits) {
  for (int l = 0; l < count_from(*plan.product, row); ++l)
    if (bad[l])
      bits[l] = static_cast<std::uint32_t>(
          output_of_the_model(*plan.numerics, *plan.product, *plan.matrices, row + l, column));
}

[[gnu::always_inline]] inline void finish(const Plan& plan, int row, int column, const Bits& bits) {
  const Product& p = *plan.product;
  const std::size_t at = index_of(p, row, column);
  const int count = count_from(p, row);
  p.d == Element::f16 ? put<std::uint16_t>(plan.matrices->d, at, count, bits)
                      : put<std::uint32_t>(plan.matrices->d, at, count, bits);
}

#ifdef __AVX512F__
constexpr int blocked = 4;
#else
constexpr int blocked = 2;
#endif

void multiply_block(const Plan& plan, const Rows& rows, const Columns& columns, int row, int column,
                    int at) {
  Sum c[blocked], sums[blocked];
  Ints bad[blocked];
  const Ints out_of_range =
      rows.special | (rows.least + columns.least < low) | (rows.most + columns.most > high);
  for (int j = 0; j < blocked; ++j) {
    bad[j] = columns.special ? ~Ints{} : out_of_range;
    c[j] = start_of(plan, row, column + at + j, bad[j]);
    sums[j] = plan.unpacked ? Sum{Floats{}, Ints{} + no_exponent} : c[j];
  }
  const float* const b = columns.value + at * plan.depth;
  const std::int32_t* const exponents = columns.exponent + at / 2 * plan.depth;
  if (plan.unpacked)
    sums_of<true>(plan, rows, b, exponents, sums, bad);
  else
    sums_of<false>(plan, rows, b, exponents, sums, bad);
  Ints any_bad = {};
  Bits results[blocked];
  for (int j = 0; j < blocked; ++j) {
    results[j] = result_of(plan, sums[j], c[j]);
    any_bad |= bad[j];
  }
  for (int j = 0; any(any_bad) && j < blocked; ++j)
    leave_to_the_model(plan, row, column + at + j, bad[j], results[j]);
  for (int j = 0; j < blocked; ++j) finish(plan, row, column + at + j, results[j]);
}

bool floats(const Numerics& numerics, const Product& p, const Matrices& at) {
  const bool chained = p.unit == Unit::quads && !numerics.native_quads;
  const bool fp8 = format(p.a).bits == 8;
  const bool unpacked = fp8 && p.unit == Unit::warp && numerics.warp_fp8 == Numerics::Fp8::as_f16;
  if (chained || (unpacked && p.sparse) || p.k > most_depth || p.m > most_rows) return false;
  const Plan plan = plan_of(numerics, p, at);
  RowDecoder decode_a = nullptr;
  ColumnDecoder decode_b = nullptr;
  for (const auto& each : decoders) {
    if (each.element == p.a) decode_a = each.rows;
    if (each.element == p.b) decode_b = each.columns;
  }
  if (!decode_a || !decode_b) return false;
  Rows rows[most_rows / lanes];
  for (int row = 0; row < p.m; row += lanes) {
    decode_a(plan, row, rows[row / lanes]);
    if (p.sparse) spread_rows(plan, row, rows[row / lanes]);
  }
  Columns columns;
  for (int column = 0; column < p.n; column += columns_at_once) {
    decode_b(plan, column, columns);
    for (int row = 0; row < p.m; row += lanes)
      for (int j = 0; j < columns_at_once; j += blocked)
        multiply_block(plan, rows[row / lanes], columns, row, column, j);
  }
  return true;
}

}  // namespace

bool integers(const Product& product, const Matrices& matrices);
bool doubles(const Product& product, const Matrices& matrices);

Cores cores() { return {floats, integers, doubles}; }

}  // namespace inflight::tensor::INFLIGHT_ISA
