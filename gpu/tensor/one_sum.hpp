// The fast path, which nearly all products take: each output is one sum of usual values. Each step
// processes eight columns, so that no step waits for the one before it. Included only by
// float_core.cpp.
#pragma once
#include "gpu/tensor/float_operands.hpp"
#include "gpu/tensor/rounding.hpp"

namespace inflight::tensor::INFLIGHT_ISA {

#ifdef __AVX512F__
constexpr int blocked = 4;  // columns whose sums fit in registers
#else
constexpr int blocked = 2;
#endif

// An f32 accumulator is usual if it is zero or if its exponent is at least this. Inexact sums of
// codes stand for smaller exponents.
constexpr std::int32_t least_usual = -64;
constexpr std::int32_t f32_bias = 127;

// Eight columns of accumulators, and the biased f32 exponents to which their sums are aligned.
struct Aligned {
  Floats start[columns_at_once];
  Ints exponent[columns_at_once];
};

// Returns false if some accumulators are not usual.
inline bool load_floats(const void* c, std::ptrdiff_t stride, Aligned& to) {
  Bits most = {}, least = ~Bits{};
  for (int j = 0; j < columns_at_once; ++j) {
    const Bits bits = c ? load<Bits>(static_cast<const float*>(c) + j * stride) : Bits{};
    const Bits magnitude = bits & 0x7fffffff;
    most = larger(most, magnitude), least = smaller(least, magnitude - 1);
    to.start[j] = as<Floats>(bits);
    to.exponent[j] = as<Ints>(magnitude >> 23);
  }
  constexpr std::int32_t first_usual = (least_usual + f32_bias) << 23;
  // The mask removes the sign bit of the -1 that a zero gives.
  const Ints too_small = as<Ints>(least & 0x7fffffff) - (first_usual - 1);
  return !any(too_small | (0x7f7fffff - as<Ints>(most)));
}
inline bool load_halves(const void* c, std::ptrdiff_t stride, Aligned& to) {
  constexpr std::int32_t least = -14;  // exponent of f16's subnormal numbers
  Bits most = {};
  for (int j = 0; j < columns_at_once; ++j) {
    const Floats value =
        c ? from_halves(load<Halves>(static_cast<const std::uint16_t*>(c) + j * stride)) : Floats{};
    const Bits magnitude = as<Bits>(value) & 0x7fffffff;
    most = larger(most, magnitude);
    to.start[j] = value;
    to.exponent[j] =
        larger(as<Ints>(magnitude >> 23), (least + f32_bias) & (as<Ints>(magnitude) != 0));
  }
  return !any(0x7f7fffff - as<Ints>(most));
}

// Finds the largest exponent of each sum.
template <int Depth>
[[gnu::always_inline]] inline void align(const Rows& rows, const Columns& columns, Aligned& sums) {
  const Ints base = rows.base + (columns.base + f32_bias);
  for (int j = 0; j < columns_at_once; j += quad) {
    const std::int32_t* const other = columns.exponent + j / quad * Depth;
    Bytes four[2] = {Bytes{} + static_cast<signed char>(no_code), {}};
    four[1] = four[0];
#pragma GCC unroll 32
    for (int k = 0; k < Depth; ++k)
      four[k % 2] = larger(
          four[k % 2], saturated_sum(as<Bytes>(rows.exponent[k]), as<Bytes>(Ints{} + other[k])));
    const Ints largest = as<Ints>(larger(four[0], four[1]));
    for (int i = 0; i < quad; ++i) {
      Ints& e = sums.exponent[j + i];
      e = larger(larger(e, one_of(largest, i) + base), Ints{} + (low + f32_bias));
    }
  }
}

// Sums the products as integers. The sums fit.
template <int Depth>
[[gnu::always_inline]] inline void add_products(const Rows& rows, const float* b,
                                                const Floats* scale, Bits* sums) {
  Bits part[blocked] = {};
#pragma GCC unroll 4
  for (int k = 0; k < Depth; ++k)
    for (int j = 0; j < blocked; ++j)
      part[j] += as<Bits>(truncated(rows.value[k] * b[j * Depth + k] * scale[j]));
  for (int j = 0; j < blocked; ++j) sums[j] = part[j];
}

// Computes `lanes` rows, from `row` on, of eight columns of D = A * B + C. Returns false, without
// storing anything, if some value is not usual.
template <int Depth, Element Accumulator>
bool one_sum_block(const Plan& plan, const Rows& rows, const Columns& columns, int row,
                   int column) {
  constexpr bool half = Accumulator == Element::f16;
  const std::ptrdiff_t stride = plan.product->m, at = column * stride + row;
  constexpr std::ptrdiff_t size = half ? 2 : 4;
  const auto* const c = static_cast<const std::byte*>(plan.matrices->c);
  const Ints least = rows.least + columns.least, most = rows.most + columns.most;
  const Ints wide = least - (rows.base + columns.base) - least_right_sum;
  Aligned sums;
  const bool usual = half ? load_halves(c ? c + at * size : c, stride, sums)
                          : load_floats(c ? c + at * size : c, stride, sums);
  if (!usual || columns.special || any(rows.special | wide | (least - low) | (high - most)))
    return false;
  align<Depth>(rows, columns, sums);
  Floats scale[columns_at_once];
  Ints total[columns_at_once];
  for (int j = 0; j < columns_at_once; ++j) {
    scale[j] = as<Floats>((plan.fraction_bits + 2 * f32_bias - sums.exponent[j]) << 23);
    total[j] = truncated(sums.start[j] * scale[j]);
  }
  Bits products[columns_at_once];
  for (int j = 0; j < columns_at_once; j += blocked)
    add_products<Depth>(rows, columns.value + j * Depth, scale + j, products + j);
  Ints bad = {};
  for (int j = 0; j < columns_at_once; ++j)
    total[j] = fitting_sum(total[j], as<Ints>(products[j]), bad);
  if (any(bad)) return false;
  auto* const d = static_cast<std::byte*>(plan.matrices->d) + at * size;
  for (int j = 0; j < columns_at_once; ++j) {
    std::byte* const to = d + j * stride * size;
    if constexpr (half)
      store(to, rounded_halves(total[j], scale[j]));
    else
      store(to, rounded<Accumulator>(plan, total[j], scale[j]));
  }
  return true;
}

}  // namespace inflight::tensor::INFLIGHT_ISA
