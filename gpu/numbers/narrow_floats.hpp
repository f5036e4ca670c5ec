// The formats of 4, 6 and 8 bits, by PTX's names, and their conversions to and from f32 by bits
// (PTX ISA, "Alternate Floating-Point Data Formats"; OCP, "Microscaling Formats (MX)").
//
// A value is the low bits of a word. All functions are inlined, so they use the instruction set for
// which the caller is compiled, and have no branches, so that a loop over values stays SIMD.
#pragma once
#include <bit>
#include <cstdint>

#include "gpu/numbers/small_floats.hpp"

namespace inflight::numbers {

// The magnitude of an f32 in a format of E exponent and M fraction bits, which is larger than all
// magnitudes of the format if the number is too large for it.
struct Cut {
  std::uint32_t significand, shift, base;  // the result: significand / 2^shift + base
};
template <int E, int M>
[[gnu::always_inline]] constexpr Cut cut(std::uint32_t magnitude) {
  constexpr std::uint32_t least =
      128 - (1u << (E - 1)) + 1;  // biased as in f32, of a normal number
  const std::uint32_t field = magnitude >> 23, own = field > 1 ? field : 1;
  const std::uint32_t exponent = own > least ? own : least;
  const std::uint32_t significand = (magnitude & 0x7fffff) | (field != 0 ? 0x800000 : 0);
  return {significand, 23 - M + exponent - own, (exponent - least) << M};
}

// Rounds to nearest even.
template <int E, int M>
[[gnu::always_inline]] constexpr std::uint32_t nearest_magnitude(std::uint32_t magnitude) {
  const Cut c = cut<E, M>(magnitude);
  const std::uint32_t shift = c.shift < 25 ? c.shift : 25, half = 1u << (shift - 1);
  const std::uint32_t kept = c.significand >> shift, lost = c.significand & (2 * half - 1);
  return kept + (lost + (kept & 1) > half) + c.base;
}

// Adds `random`, of Bits bits, below the bits that are kept. The carry rounds up.
template <int E, int M, int Bits>
[[gnu::always_inline]] constexpr std::uint32_t random_magnitude(std::uint32_t magnitude,
                                                                std::uint32_t random) {
  constexpr std::uint32_t most = 30;
  const Cut c = cut<E, M>(magnitude);
  const std::uint32_t shift = c.shift < most ? c.shift : most, past = c.shift - shift;
  const std::uint32_t significand = c.significand >> (past < 31 ? past : 31);
  return ((significand + (random << (shift - Bits))) >> shift) + c.base;
}

// A format with a sign: E exponent and M fraction bits. `greatest` is its greatest magnitude. A NaN
// becomes `nan`, which in formats without NaN is the greatest number.
template <int E, int M, std::uint32_t Greatest, std::uint32_t Nan>
struct NarrowFloat {
  static constexpr int exponent_bits = E, fraction_bits = M, bits = 1 + E + M;
  static constexpr std::uint32_t sign = 1u << (E + M), greatest = Greatest, nan = Nan;
  static constexpr bool has_nan = Nan != Greatest;

  [[gnu::always_inline]] static constexpr float value(std::uint32_t x) {
    constexpr int bias = (1 << (E - 1)) - 1;
    const std::uint32_t magnitude = x & (sign - 1);
    // Scaling by a power of two turns subnormal numbers into normal ones, exactly.
    const float scaled = std::bit_cast<float>(magnitude << (23 - M)) *
                         std::bit_cast<float>(std::uint32_t{254 - bias} << 23);
    const std::uint32_t number = std::bit_cast<std::uint32_t>(scaled) | (x & sign) << (31 - E - M);
    return std::bit_cast<float>(select(special(magnitude), special_value(magnitude, x), number));
  }

  // Rounds to nearest even. Too large a number becomes the greatest of its sign.
  [[gnu::always_inline]] static constexpr std::uint32_t round(float x) {
    const auto f32 = std::bit_cast<std::uint32_t>(x);
    return finish(f32, nearest_magnitude<E, M>(f32 & f32_magnitude));
  }
  // Rounds up or down by `random`, of Bits bits.
  template <int Bits>
  [[gnu::always_inline]] static constexpr std::uint32_t round(float x, std::uint32_t random) {
    const auto f32 = std::bit_cast<std::uint32_t>(x);
    return finish(f32, random_magnitude<E, M, Bits>(f32 & f32_magnitude, random));
  }

 private:
  // e5m2 has infinities, as f16 has. Of the others, only e4m3 has a NaN.
  static constexpr bool has_infinity = E == 5;
  [[gnu::always_inline]] static constexpr bool special(std::uint32_t magnitude) {
    return has_infinity ? magnitude > Greatest : has_nan && magnitude == Nan;
  }
  [[gnu::always_inline]] static constexpr std::uint32_t special_value(std::uint32_t magnitude,
                                                                      std::uint32_t x) {
    const bool infinite = has_infinity && magnitude == Greatest + 1;
    return select(infinite, f32_infinity | (x & sign) << (31 - E - M), f32_magnitude);
  }
  [[gnu::always_inline]] static constexpr std::uint32_t finish(std::uint32_t f32,
                                                               std::uint32_t magnitude) {
    const std::uint32_t kept = magnitude > Greatest ? Greatest : magnitude;
    return select(is_nan(f32), Nan, kept | (f32 >> 31) << (E + M));
  }
};

using E4m3 = NarrowFloat<4, 3, 0x7e, 0x7f>;
using E5m2 = NarrowFloat<5, 2, 0x7b, 0x7f>;
using E2m3 = NarrowFloat<2, 3, 0x1f, 0x1f>;
using E3m2 = NarrowFloat<3, 2, 0x1f, 0x1f>;
using E2m1 = NarrowFloat<2, 1, 0x7, 0x7>;

// A scale: 2^(bits - 127), or NaN if all bits are set. It has neither sign nor zero.
struct Ue8m0 {
  static constexpr std::uint32_t nan = 0xff;
  [[gnu::always_inline]] static constexpr float value(std::uint32_t x) {
    const std::uint32_t number = x == 0 ? 0x400000 : x << 23;
    return std::bit_cast<float>(select(x == nan, f32_magnitude, number));
  }
  // Of the magnitude of x, rounded towards zero or `up`. The least power of two stands for all
  // numbers below it. A number that is too large becomes the greatest one if `finite`, else NaN.
  [[gnu::always_inline]] static constexpr std::uint32_t round(float x, bool up, bool finite) {
    const std::uint32_t m = std::bit_cast<std::uint32_t>(x) & f32_magnitude;
    // 2^-127 is subnormal in f32.
    const bool rises = up && (m & 0x7fffff) != 0 && m > 0x400000 && m < f32_infinity;
    const std::uint32_t r = (m >> 23) + rises;
    return finite && r == nan && m <= f32_infinity ? nan - 1 : r;
  }
};

// A scale: e4m3 without its sign. The highest bit is ignored.
struct Ue4m3 {
  [[gnu::always_inline]] static constexpr float value(std::uint32_t x) {
    return E4m3::value(x & 0x7f);
  }
};

}  // namespace inflight::numbers
