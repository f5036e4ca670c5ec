// The format of a texel, and how reads convert its bytes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace inflight::texture {

enum class Kind : std::uint8_t { unsigned_integer, signed_integer, floating };

struct Format {
  Kind kind = Kind::floating;
  std::uint8_t bits = 32, channels = 4;  // bits per channel: 8, 16 or 32; channels: 1, 2 or 4
  unsigned bytes() const { return bits / 8u * channels; }
  bool operator==(const Format&) const = default;
};

// A texel's channels x, y, z, w: bits of floats, or integers.
using Value = std::array<std::uint32_t, 4>;

// How a texture's reads interpret its texels.
enum class As : std::uint8_t {
  element,     // integers as they are, floats as floats
  normalized,  // integers as floats in [0, 1] or [-1, 1]
  srgb,        // like normalized, but 8-bit x, y and z become linear light
};

using Decode = Value (*)(const std::byte* texel);
// Returns the function that decodes texels of `format`. Missing channels are 0.
Decode decoder(Format format, As as);
// Does decoding give floats?
constexpr bool gives_floats(Format format, As as) {
  return format.kind == Kind::floating || as != As::element;
}

// Converts a border colour to a texel like an H200: halves are truncated, normalized integers are
// scaled, and other integers get the low bits of the float.
void encode_colour(Format format, As as, const float (&colour)[4], std::byte* texel);

std::uint16_t half_below(float value);  // truncates; too large numbers become the largest

}  // namespace inflight::texture
