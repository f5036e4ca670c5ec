// Conversions of f16, bf16 and tf32 by their bits (PTX ISA, "Alternate Floating-Point Data
// Formats").
//
// All roundings to nearest even to these formats use this file, with two exceptions: the tensor
// cores round vectors (gpu/tensor/rounding.hpp), and their model rounds exact sums
// (gpu/tensor/model.cpp). Tests compare those with this file and with each other. The other
// directions are in gpu/machine/families/rounding.hpp.
#pragma once
#include <bit>
#include <cstdint>

namespace inflight::numbers {

inline constexpr std::uint32_t f32_infinity = 0x7f800000, f32_magnitude = 0x7fffffff;

// The NaN that a tensor copy stores for an out-of-bounds element of 16 bits, if its map asks for
// NaN.
inline constexpr std::uint32_t out_of_bounds_half = 0x7ff7;

constexpr bool is_nan(std::uint32_t f32) { return (f32 & f32_magnitude) > f32_infinity; }

// condition ? yes : no without a branch, so that the compiler can vectorise a loop over values.
[[gnu::always_inline]] constexpr std::uint32_t select(bool condition, std::uint32_t yes,
                                                      std::uint32_t no) {
  const std::uint32_t mask = 0u - std::uint32_t{condition};
  return (yes & mask) | (no & ~mask);
}

// In F16 and Bf16 a value is the low 16 bits of a word, and round() maps every NaN to `nan`. All
// functions are inlined, so they use the instruction set for which the caller is compiled.

// 1 sign bit, 5 exponent bits, 10 fraction bits.
struct F16 {
  static constexpr std::uint32_t infinity = 0x7c00, one = 0x3c00, nan = 0x7fff;
  [[gnu::always_inline]] static float value(std::uint32_t h) {
    const std::uint32_t magnitude = (h & 0x7fff) << 13;
    // Scaling by a power of two turns subnormal numbers into normal ones, exactly.
    const auto scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
    const std::uint32_t bits = (h & infinity) == infinity ? magnitude | f32_infinity : scaled;
    return std::bit_cast<float>(bits | (h & 0x8000) << 16);
  }
  // Rounds to nearest even.
  [[gnu::always_inline]] static std::uint32_t round(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t m = bits & f32_magnitude, sign = bits >> 16 & 0x8000;
    const std::uint32_t rebased = m - (112u << 23);
    const std::uint32_t normal = (rebased + 0xfff + (rebased >> 13 & 1)) >> 13;
    // Below 2^-14: adding 0.5 leaves the fraction in the lowest bits.
    const std::uint32_t tiny = std::bit_cast<std::uint32_t>(std::bit_cast<float>(m) + 0.5f) -
                               std::bit_cast<std::uint32_t>(0.5f);
    const std::uint32_t finite = select(m < 0x38800000, tiny, normal);
    const std::uint32_t r = select(m >= 0x47800000, infinity, finite) | sign;  // 2^16 and more
    return select(m > f32_infinity, nan, r);
  }
};

// 1 sign bit, 8 exponent bits, 7 fraction bits: the high half of a float.
struct Bf16 {
  static constexpr std::uint32_t infinity = 0x7f80, one = 0x3f80, nan = 0x7fff;
  [[gnu::always_inline]] static float value(std::uint32_t h) {
    return std::bit_cast<float>(h << 16);
  }
  [[gnu::always_inline]] static std::uint32_t round(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t r = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return select(is_nan(bits), nan, r);
  }
};

// The 32 bits of a tf32: an f32 rounded to nearest even, with the 13 lowest bits of the fraction
// zero. Every NaN becomes the same one.
[[gnu::always_inline]] constexpr std::uint32_t round_to_tf32(std::uint32_t f32) {
  constexpr std::uint32_t lost = 0x1fff;
  if (is_nan(f32)) return f32_magnitude & ~lost;
  return (f32 + lost / 2 + (f32 >> 13 & 1)) & ~lost;
}

}  // namespace inflight::numbers
