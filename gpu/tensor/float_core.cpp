// Floating products of some rows at once, equal to the model's to the bit.
//
// A product of two elements is exact in f32. Times 2^(F - largest exponent) and converted to an
// integer, which truncates, it is the model's aligned term; integers add exactly. Where exponents
// leave f32's, outputs are left to the model, one by one.
#include <memory>

#include "gpu/tensor/cores.hpp"
#include "gpu/tensor/float_operands.hpp"
#include "gpu/tensor/model.hpp"

namespace inflight::tensor::INFLIGHT_ISA {
namespace {

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
template <Element E>
[[gnu::always_inline]] inline Sum start_as(const void* at, std::size_t index, int count,
                                           Ints& special) {
  using Stored = std::conditional_t<format_of<E>.bits == 16, std::uint16_t, std::uint32_t>;
  const Bits bits = accumulator_bits<Stored>(at, index, count);
  const Ints largest_finite = Ints{} + static_cast<std::int32_t>(least_special<E> - 1);
  special |= largest_finite - as<Ints>(parts_of<E>(bits).magnitude);
  const Decoded d = E == Element::f32 ? finite<E>(parts_of<E>(bits)) : decode<E>(bits);
  return {d.value, d.exponent};
}
[[gnu::always_inline]] inline Sum start_of(const Plan& plan, int row, int column, Ints& special) {
  const Product& p = *plan.product;
  if (!plan.matrices->c) return {Floats{}, Ints{} + no_exponent};
  const std::size_t at = static_cast<std::size_t>(column) * static_cast<std::size_t>(p.m) +
                         static_cast<std::size_t>(row);
  const int count = p.m - row < lanes ? p.m - row : lanes;
  if (p.c == Element::f32) return start_as<Element::f32>(plan.matrices->c, at, count, special);
  const Sum start = start_as<Element::f16>(plan.matrices->c, at, count, special);
  if (plan.sums == Element::f16) return start;
  return {start.value, exponent_of(start.value, -126)};
}

// To nearest even, of values that are odd where they were cut off.
using Halves [[gnu::vector_size(2 * lanes)]] = std::uint16_t;
#if defined __AVX512F__ || defined __F16C__
[[gnu::always_inline]] inline Bits to_f16(Floats value) {
  constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#  ifdef __AVX512F__
  const auto halves = _mm512_maskz_cvtps_ph(0xffff, as<__m512>(value), nearest);
#  else
  const auto halves = _mm256_cvtps_ph(as<__m256>(value), nearest);
#  endif
  return __builtin_convertvector(as<Halves>(halves), Bits);
}
[[gnu::always_inline]] inline Floats from_f16(Bits bits) {
  const auto halves = __builtin_convertvector(bits, Halves);
#  ifdef __AVX512F__
  return as<Floats>(_mm512_maskz_cvtph_ps(0xffff, as<__m256i>(halves)));
#  else
  return as<Floats>(_mm256_cvtph_ps(as<__m128i>(halves)));
#  endif
}
#else
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
#endif

// Towards zero.
[[gnu::always_inline]] inline Floats cut_off(Ints v) {
#ifdef __AVX512F__
  return as<Floats>(_mm512_maskz_cvt_roundepi32_ps(0xffff, as<__m512i>(v),
                                                   _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
#else
  const Floats nearest = to_floats(v);
  const Ints back = truncated(nearest);
  const auto size = [](Ints x) { return x < 0 ? -as<Bits>(x) : as<Bits>(x); };
  return as<Floats>(as<Bits>(nearest) + as<Bits>(size(back) > size(v)));  // one less where larger
#endif
}

// x + y; lanes where it does not fit are bad.
[[gnu::always_inline]] inline Ints fitting_sum(Ints x, Ints y, Ints& bad) {
  const Ints sum = as<Ints>(as<Bits>(x) + as<Bits>(y));
  bad |= (x ^ sum) & (y ^ sum);
  return sum;
}

// A group's sum of integers, rounded: total / scale.
[[gnu::always_inline]] inline Floats rounded(const Plan& plan, Ints total, Floats scale) {
  const Floats unit = as<Floats>((Bits{} + (254U << 23)) - as<Bits>(scale));
  const Floats cut = cut_off(total);
  if (plan.sums == Element::f32) return as<Floats>(as<Bits>(cut * unit) & plan.kept);
  const Ints odd = (truncated(cut) != total) & 1;
  const Bits h = to_f16(as<Floats>(as<Ints>(cut) | odd) * unit);
  return from_f16(as<Bits>(pick(as<Ints>(h) == 0x8000, Ints{}, as<Ints>(h))));
}

// --- the sums of a vector of rows and N columns ---

// The largest exponents of the products from `done` to `end`, where `largest` has the sums'.
template <int N, class At>
[[gnu::always_inline]] inline void find_largest(const Rows& rows, const std::int32_t* b_exponents,
                                                std::ptrdiff_t depth, std::ptrdiff_t done,
                                                std::ptrdiff_t end, At at, Ints (&largest)[N]) {
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
}

// `Ordered`: k goes in the plan's order.
template <bool Ordered, int N>
[[gnu::always_inline]] inline void sums_of(const Plan& plan, const Rows& rows, const float* b,
                                           const std::int32_t* b_exponents, Sum (&sums)[N],
                                           Ints (&bad)[N]) {
  const std::ptrdiff_t depth = plan.depth, group = plan.group, fits = plan.fits;
  const std::int32_t least = plan.sums == Element::f16 ? -14 : -126;
  const auto at = [&plan](std::ptrdiff_t i) {
    return Ordered ? static_cast<std::ptrdiff_t>(plan.order[i]) : i;
  };
  for (std::ptrdiff_t done = 0; done < depth;) {
    const std::ptrdiff_t end = done + group < depth ? done + group : depth;
    Ints largest[N], totals[N];
    for (int j = 0; j < N; ++j) largest[j] = sums[j].exponent;
    find_largest(rows, b_exponents, depth, done, end, at, largest);
    Floats scale[N];
    for (int j = 0; j < N; ++j) {
      // Where all terms are zero, any scale will do.
      bad[j] |= (largest[j] - low) & (no_exponent / 2 - largest[j]);
      largest[j] = larger(largest[j], Ints{} + low);
      scale[j] = as<Floats>((plan.fraction_bits + 127 - largest[j]) << 23);
      totals[j] = truncated(sums[j].value * scale[j]);
    }
    while (done < end) {
      const std::ptrdiff_t part_end = done + fits < end ? done + fits : end;
      Bits part[N] = {};  // they wrap in lanes that are bad
      for (std::ptrdiff_t i = done; i < part_end; ++i) {
        const Floats x = rows.value[at(i)];
        const float* const p = b + at(i);
        for (int j = 0; j < N; ++j) part[j] += as<Bits>(truncated(x * p[j * depth] * scale[j]));
      }
      for (int j = 0; j < N; ++j) totals[j] = fitting_sum(totals[j], as<Ints>(part[j]), bad[j]);
      done = part_end;
    }
    for (int j = 0; j < N; ++j) {
      sums[j].value = rounded(plan, totals[j], scale[j]);
      if (end == depth) continue;
      bad[j] |= 0x7f7fffff - as<Ints>(as<Bits>(sums[j].value) & 0x7fffffff);
      sums[j].exponent = exponent_of(sums[j].value, least);
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
    if (bad[l] < 0)
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

// Lanes whose products or accumulator are infinite or NaN get what IEEE's sum of them is: finite
// terms, made small, change nothing. Which lanes?
[[gnu::noinline]] Ints settle_special(const Plan& plan, const Rows& rows, const float* b,
                                      const Sum& c, Bits& bits) {
  constexpr float small = 0x1p-126F;
  Floats sum = c.value * small;
  for (int k = 0; k < plan.depth; ++k) sum += rows.value[k] * b[k] * small;
  const Bits magnitude = as<Bits>(sum) & 0x7fffffff;
  const bool half = plan.product->d == Element::f16;
  const std::int32_t infinity = half ? 0x7c00 : 0x7f800000, nan = half ? 0x7fff : 0x7fffffff;
  const Ints sign = as<Ints>(as<Bits>(sum) >> 31 << (half ? 15 : 31));
  const Ints result = pick(as<Ints>(magnitude) > 0x7f800000, Ints{} + nan, sign | infinity);
  const Ints settled = as<Ints>(magnitude) >= 0x7f800000;
  bits = as<Bits>(pick(settled, result, as<Ints>(bits)));
  return settled;
}

void multiply_block(const Plan& plan, const Rows& rows, const Columns& columns, int row, int column,
                    int at) {
  Sum c[blocked], sums[blocked];
  Ints bad[blocked], special = rows.special, any_bad = {};
  const Ints out_of_range = (rows.least + columns.least < low) | (rows.most + columns.most > high);
  for (int j = 0; j < blocked; ++j) {
    bad[j] = out_of_range;
    c[j] = start_of(plan, row, column + at + j, special);
    sums[j] = plan.unpacked ? Sum{Floats{}, Ints{} + no_exponent} : c[j];
  }
  const float* const b = columns.value + at * plan.depth;
  const std::int32_t* const exponents = columns.exponent + at / 2 * plan.depth;
  if (plan.unpacked)
    sums_of<true>(plan, rows, b, exponents, sums, bad);
  else
    sums_of<false>(plan, rows, b, exponents, sums, bad);
  const bool settle = columns.special || any(special);
  Bits results[blocked];
  for (int j = 0; j < blocked; ++j) {
    results[j] = result_of(plan, sums[j], c[j]);
    if (settle) {
      // One of several sums may have overflown before; absent values multiply nothing.
      const Ints settled = settle_special(plan, rows, b + j * plan.depth, c[j], results[j]);
      bad[j] = plan.one_sum ? (bad[j] & ~settled) | out_of_range : bad[j] | settled;
    }
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
  static thread_local const auto kept = std::make_unique<KeptRows>();
  const Rows* const rows = kept->of(plan, decode_a);
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
