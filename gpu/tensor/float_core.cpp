// Floating-point products of several rows at once, equal to the model's in every bit.
//
// A product of two elements is exact in f32. Multiplied by 2^(F - largest exponent), where F is the
// number of fraction bits, and truncated to an integer, it is the model's aligned term. Integers
// add exactly. If exponents leave the range of f32, the model computes the outputs one by one.

#include "gpu/host/of_this_thread.hpp"
#include "gpu/tensor/cores.hpp"
#include "gpu/tensor/float_operands.hpp"
#include "gpu/tensor/model.hpp"
#include "gpu/tensor/one_sum.hpp"

namespace inflight::tensor::INFLIGHT_ISA {
namespace {

// --- accumulators ---

struct Sum {
  Floats value;
  Ints exponent;
};

// Reads `count` elements of a column from one row on. `count` may be less than `lanes`.
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

// C as the start of the first group. Marks lanes that are not finite in `special`.
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

[[gnu::always_inline]] inline Bits rounded(const Plan& plan, Ints total, Floats scale) {
  return plan.sums == Element::f32 ? rounded<Element::f32>(plan, total, scale)
                                   : rounded<Element::f16>(plan, total, scale);
}

// --- the sums of `lanes` rows and four columns ---

struct Sums {
  Sum sum[quad];
  Ints bad[quad];
  Bits result[quad];  // in the format to which sums are rounded
};

// Finds the largest exponents of the products from `done` to `end` and of the sums so far.
[[gnu::always_inline]] inline void find_largest(const Plan& plan, const Rows& rows,
                                                const Columns& columns, int first,
                                                std::ptrdiff_t done, std::ptrdiff_t end, Sums& sums,
                                                Ints (&largest)[quad]) {
  const std::int32_t* const other = columns.exponent + first / quad * plan.depth;
  Bytes four = Bytes{} + static_cast<signed char>(no_code);
  for (std::ptrdiff_t i = done; i < end; ++i) {
    const Bytes b = as<Bytes>(Ints{} + other[plan.at(i)]);
    four = larger(four, saturated_sum(as<Bytes>(rows.exponent[plan.at(i)]), b));
  }
  const Ints base = rows.base + columns.base;
  // Negative in lanes that may have products whose sums of codes are inexact.
  const Ints wide = rows.least + columns.least - base - least_right_sum;
  for (int j = 0; j < quad; ++j) {
    const Ints code = one_of(as<Ints>(four), j), none = code < least_right_sum;
    sums.bad[j] |= none & wide;
    largest[j] = larger(sums.sum[j].exponent, pick(none, Ints{} + no_exponent, code + base));
  }
}

[[gnu::always_inline]] inline void sums_of(const Plan& plan, const Rows& rows,
                                           const Columns& columns, int first, Sums& sums) {
  const float* const b = columns.value + first * plan.depth;
  const std::int32_t least = plan.sums == Element::f16 ? -14 : -126;
  for (std::ptrdiff_t done = 0; done < plan.depth;) {
    const std::ptrdiff_t begin = done;
    const std::ptrdiff_t end = done + plan.group < plan.depth ? done + plan.group : plan.depth;
    Ints largest[quad];
    find_largest(plan, rows, columns, first, done, end, sums, largest);
    for (int from = 0; from < quad; from += blocked) {
      Floats scale[blocked];
      Ints totals[blocked];
      for (int j = 0; j < blocked; ++j) {
        // If all terms are zero, any scale is correct.
        const Ints e = largest[from + j];
        sums.bad[from + j] |= (e - low) & (no_exponent / 2 - e);
        scale[j] = as<Floats>((plan.fraction_bits + 127 - larger(e, Ints{} + low)) << 23);
        totals[j] = truncated(sums.sum[from + j].value * scale[j]);
      }
      for (done = begin; done < end;) {
        const std::ptrdiff_t part_end = done + plan.fits < end ? done + plan.fits : end;
        Bits part[blocked] = {};  // wraps around in bad lanes
        for (std::ptrdiff_t i = done; i < part_end; ++i) {
          const Floats x = rows.value[plan.at(i)];
          const float* const p = b + from * plan.depth + plan.at(i);
          for (int j = 0; j < blocked; ++j)
            part[j] += as<Bits>(truncated(x * p[j * plan.depth] * scale[j]));
        }
        for (int j = 0; j < blocked; ++j)
          totals[j] = fitting_sum(totals[j], as<Ints>(part[j]), sums.bad[from + j]);
        done = part_end;
      }
      for (int j = 0; j < blocked; ++j) sums.result[from + j] = rounded(plan, totals[j], scale[j]);
    }
    if (end == plan.depth) return;
    for (int j = 0; j < quad; ++j) {
      Sum& sum = sums.sum[j];
      sum.value = plan.sums == Element::f16 ? from_f16(sums.result[j]) : as<Floats>(sums.result[j]);
      sums.bad[j] |= 0x7f7fffff - as<Ints>(as<Bits>(sum.value) & 0x7fffffff);
      sum.exponent = exponent_of(sum.value, least);
    }
  }
}

// Adds an accumulator that comes last, and converts to the result's format.
[[gnu::always_inline]] inline Bits result_of(const Plan& plan, Bits sum, const Sum& c) {
  const bool half = plan.sums == Element::f16;
  if (half && !plan.unpacked) return sum;
  const Floats before = half ? from_f16(sum) : as<Floats>(sum);
  const Floats value = plan.unpacked ? before + c.value : before;
  return plan.product->d == Element::f32 ? as<Bits>(value) : to_f16(value);
}

std::size_t index_of(const Product& p, int row, int column) {
  return static_cast<std::size_t>(column) * static_cast<std::size_t>(p.m) +
         static_cast<std::size_t>(row);
}
int count_from(const Product& p, int row) { return p.m - row < lanes ? p.m - row : lanes; }

// Computes the bad lanes with the model.
[[gnu::noinline]] void leave_to_the_model(const Plan& plan, int row, int column, Ints bad,
                                          Bits& bits) {
  int rows[lanes], count = 0;
  for (int l = 0; l < count_from(*plan.product, row); ++l)
    if (bad[l] < 0) rows[count++] = row + l;
  std::uint32_t outputs[lanes];
  outputs_of_the_model(*plan.numerics, *plan.product, *plan.matrices, column,
                       {rows, static_cast<std::size_t>(count)}, outputs);
  for (int i = 0; i < count; ++i) bits[rows[i] - row] = outputs[i];
}

[[gnu::always_inline]] inline void finish(const Plan& plan, int row, int column, const Bits& bits) {
  const Product& p = *plan.product;
  const std::size_t at = index_of(p, row, column);
  const int count = count_from(p, row);
  p.d == Element::f16 ? put<std::uint16_t>(plan.matrices->d, at, count, bits)
                      : put<std::uint32_t>(plan.matrices->d, at, count, bits);
}

// Sets lanes whose products or accumulator are infinite or NaN to the IEEE sum of these. Finite
// terms are scaled down so that they do not change it. Returns these lanes.
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
                    int first) {
  Sum c[quad];
  Sums sums;
  Ints special = rows.special, any_bad = {};
  const Ints out_of_range = (rows.least + columns.least < low) | (rows.most + columns.most > high);
  for (int j = 0; j < quad; ++j) {
    sums.bad[j] = out_of_range;
    c[j] = start_of(plan, row, column + first + j, special);
    sums.sum[j] = plan.unpacked ? Sum{Floats{}, Ints{} + no_exponent} : c[j];
  }
  sums_of(plan, rows, columns, first, sums);
  const bool settle = columns.special || any(special);
  for (int j = 0; j < quad; ++j) {
    Bits& result = sums.result[j];
    Ints& bad = sums.bad[j];
    result = result_of(plan, result, c[j]);
    if (settle) {
      // With several sums, an earlier one may have overflowed. Absent values multiply nothing.
      const float* const b = columns.value + (first + j) * plan.depth;
      const Ints settled = settle_special(plan, rows, b, c[j], result);
      bad = plan.one_sum ? (bad & ~settled) | out_of_range : bad | settled;
    }
    any_bad |= bad;
  }
  for (int j = 0; any(any_bad) && j < quad; ++j)
    if (any(sums.bad[j]))
      leave_to_the_model(plan, row, column + first + j, sums.bad[j], sums.result[j]);
  for (int j = 0; j < quad; ++j) finish(plan, row, column + first + j, sums.result[j]);
}

using Block = bool (*)(const Plan&, const Rows&, const Columns&, int, int);
// Returns the fast path for this product. Null if there is none.
Block usual_block(const Plan& plan) {
  const Product& p = *plan.product;
  if (!plan.one_sum || plan.fits < plan.depth || p.c != p.d || p.m % lanes != 0) return nullptr;
  const bool half = p.d == Element::f16;
  switch (plan.depth) {
    case 8:
      return half ? nullptr : one_sum_block<8, Element::f32>;
    case 16:
      return half ? one_sum_block<16, Element::f16> : one_sum_block<16, Element::f32>;
    case 32:
      return half ? one_sum_block<32, Element::f16> : one_sum_block<32, Element::f32>;
    default:
      return nullptr;
  }
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
  const Rows* const rows = host::of_this_thread<KeptRows>().of(plan, decode_a);
  const Block usual = usual_block(plan);
  Columns columns;
  for (int column = 0; column < p.n; column += columns_at_once) {
    decode_b(plan, column, columns);
    for (int row = 0; row < p.m; row += lanes) {
      const Rows& some = rows[row / lanes];
      if (usual && usual(plan, some, columns, row, column)) continue;
      for (int j = 0; j < columns_at_once; j += quad)
        multiply_block(plan, some, columns, row, column, j);
    }
  }
  return true;
}

}  // namespace

bool integers(const Product& product, const Matrices& matrices);
bool doubles(const Product& product, const Matrices& matrices);

Cores cores() { return {floats, integers, doubles}; }

}  // namespace inflight::tensor::INFLIGHT_ISA
