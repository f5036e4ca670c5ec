// What a texel is made of, and what reads make of its bytes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace inflight::texture {

enum class Kind : std::uint8_t { unsigned_integer, signed_integer, floating };

struct Format {
  Kind kind = Kind::floating;
  std::uint8_t bits = 32, channels = 4;  // of a channel; 1, 2 or 4 of them
  unsigned bytes() const { return bits / 8u * channels; }
  bool operator==(const Format&) const = default;
};

// A texel's channels x, y, z, w: bits of floats, or integers.
using Value = std::array<std::uint32_t, 4>;

// How a texture's reads see its texels.
enum class As : std::uint8_t {
  element,     // integers as they are, floats as floats
  normalized,  // integers as floats in [0, 1] or [-1, 1]
  srgb,        // the same; of 8 bits, x, y and z are linear light
};

using Decode = Value (*)(const std::byte* texel);
// The function that reads texels of `format`; channels that there are not are 0.
Decode decoder(Format format, As as);
// Are the values that it gives floats?
constexpr bool gives_floats(Format format, As as) {
  return format.kind == Kind::floating || as != As::element;
}

// A border's colour as a texel, as an H200 makes it: halves are cut off, normalized integers
// scaled; of other integers it is the low bits of the float.
void encode_colour(Format format, As as, const float (&colour)[4], std::byte* texel);

std::uint16_t half_below(float value);  // cut off; numbers too great become the greatest

}  // namespace inflight::texture
