// f16, bf16 and tf32 by their bits (PTX ISA, "Alternate Floating-Point Data Formats").
#pragma once
#include <bit>
#include <cstdint>

namespace inflight::async {

inline constexpr std::uint32_t f32_infinity = 0x7f800000, f32_magnitude = 0x7fffffff;

constexpr bool is_nan(std::uint32_t f32) { return (f32 & f32_magnitude) > f32_infinity; }

struct F16 {
  static constexpr std::uint16_t infinity = 0x7c00, nan = 0x7fff;
  static float value(std::uint16_t h) {
    const std::uint32_t sign = (h & 0x8000u) << 16, magnitude = h & 0x7fffu;
    if (magnitude >= infinity)
      return std::bit_cast<float>(sign | f32_infinity | (magnitude & 0x3ff) << 13);
    // Scaling by a power of two makes normal numbers of subnormal ones, exactly.
    const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
  }
  // To nearest even.
  static std::uint16_t round(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t sign = bits >> 16 & 0x8000, m = bits & f32_magnitude;
    if (m > f32_infinity) return nan;
    if (m >= 0x47800000) return static_cast<std::uint16_t>(sign | infinity);  // 2^16 and more
    if (m < 0x38800000) {  // below 2^-14: adding 0.5 leaves the fraction in the lowest bits
      const float shifted = std::bit_cast<float>(m) + 0.5f;
      return static_cast<std::uint16_t>(sign |
                                        (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000));
    }
    const std::uint32_t rebased = m - (112u << 23);
    return static_cast<std::uint16_t>(sign | (rebased + 0xfff + (rebased >> 13 & 1)) >> 13);
  }
};

struct Bf16 {
  static constexpr std::uint16_t infinity = 0x7f80, nan = 0x7fff;
  static float value(std::uint16_t h) { return std::bit_cast<float>(std::uint32_t{h} << 16); }
  static std::uint16_t round(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if (is_nan(bits)) return nan;
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

// The 32 bits of a tf32: those of f32 with the 13 lowest of the fraction rounded away, to nearest
// even. Every NaN becomes the same one.
constexpr std::uint32_t round_to_tf32(std::uint32_t f32) {
  constexpr std::uint32_t lost = 0x1fff;
  if (is_nan(f32)) return f32_magnitude & ~lost;
  return (f32 + lost / 2 + (f32 >> 13 & 1)) & ~lost;
}

}  // namespace inflight::async
