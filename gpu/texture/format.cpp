// Texels' bytes -> channels.
#include "gpu/texture/format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "gpu/texture/srgb.hpp"

namespace inflight::texture {
namespace {

// A channel of T as 32 bits.
template <class T, As as>
struct Channel {
  static std::uint32_t get(const std::byte* at, unsigned) {
    T v;
    std::memcpy(&v, at, sizeof v);
    if constexpr (as == As::element) {
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(v));
    } else {
      constexpr auto greatest =
          static_cast<float>((std::uint64_t{1} << (8 * sizeof(T) - (T(-1) < T(0)))) - 1);
      return std::bit_cast<std::uint32_t>(std::max(static_cast<float>(v) / greatest, -1.0f));
    }
  }
};
template <>
std::uint32_t Channel<std::uint32_t, As::element>::get(const std::byte* at, unsigned) {
  std::uint32_t v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

struct Real {
  static std::uint32_t get(const std::byte* at, unsigned) {
    std::uint32_t v;
    std::memcpy(&v, at, sizeof v);
    return v;
  }
};
struct Half {
  static std::uint32_t get(const std::byte* at, unsigned) {
    std::uint16_t v;
    std::memcpy(&v, at, sizeof v);
    return std::bit_cast<std::uint32_t>(half_to_float(v));
  }
};

struct Srgb {
  static std::uint32_t get(const std::byte* at, unsigned channel) {
    if (channel == 3) return Channel<std::uint8_t, As::normalized>::get(at, channel);
    return std::bit_cast<std::uint32_t>(linear_light(static_cast<std::uint8_t>(*at)));
  }
};

template <class C, unsigned bytes, unsigned channels>
Value decode(const std::byte* texel) {
  Value v{};
  for (unsigned i = 0; i < channels; ++i) v[i] = C::get(texel + i * bytes, i);
  return v;
}

template <class C, unsigned bytes>
Decode by_channels(unsigned channels) {
  return channels == 1   ? decode<C, bytes, 1>
         : channels == 2 ? decode<C, bytes, 2>
                         : decode<C, bytes, 4>;
}

template <class T>
Decode integers(unsigned channels, As as) {
  return as == As::element ? by_channels<Channel<T, As::element>, sizeof(T)>(channels)
                           : by_channels<Channel<T, As::normalized>, sizeof(T)>(channels);
}

// A channel of a colour as an integer: of unsigned ones, cut off, of signed ones to the nearest.
std::int32_t scaled(float colour, Format format) {
  if (format.kind == Kind::unsigned_integer)
    return static_cast<std::int32_t>(std::clamp(colour, 0.0f, 1.0f) *
                                     static_cast<float>((1u << format.bits) - 1));
  const auto one = static_cast<float>((1u << (format.bits - 1)) - 1);
  return static_cast<std::int32_t>(std::nearbyint(std::clamp(colour, -1.0f, 1.0f) * one));
}

}  // namespace

void encode_colour(Format format, As as, const float (&colour)[4], std::byte* texel) {
  const unsigned bytes = format.bits / 8;
  for (unsigned c = 0; c < format.channels; ++c) {
    auto bits = std::bit_cast<std::uint32_t>(colour[c]);
    if (format.kind == Kind::floating) {
      if (format.bits == 16) bits = half_below(colour[c]);
    } else if (as != As::element) {
      bits = static_cast<std::uint32_t>(scaled(colour[c], format));
    }
    std::memcpy(texel + c * bytes, &bits, bytes);
  }
}

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = half >> 10 & 31, fraction = half & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -small : small;
}

std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const float size = std::fabs(value);
  if (std::isnan(value)) return 0x7fff;
  if (size >= 65520.0f) return sign | 0x7c00;
  if (size < 0x1p-14f)
    return static_cast<std::uint16_t>(sign | static_cast<int>(std::nearbyint(size * 0x1p24f)));
  const std::uint32_t rounded = (bits & 0x7fffffff) + 0xfff + (bits >> 13 & 1);
  return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112 << 10)));
}

std::uint16_t half_below(float value) {
  const std::uint16_t near = float_to_half(value);
  return std::fabs(half_to_float(near)) > std::fabs(value) ? near - 1 : near;
}

Decode decoder(Format format, As as) {
  const unsigned n = format.channels;
  switch (format.kind) {
    case Kind::floating:
      return format.bits == 32 ? by_channels<Real, 4>(n) : by_channels<Half, 2>(n);
    case Kind::unsigned_integer:
      if (format.bits == 8 && as == As::srgb) return by_channels<Srgb, 1>(n);
      if (format.bits == 8) return integers<std::uint8_t>(n, as);
      if (format.bits == 16) return integers<std::uint16_t>(n, as);
      return by_channels<Channel<std::uint32_t, As::element>, 4>(n);
    case Kind::signed_integer:
      break;
  }
  if (format.bits == 8) return integers<std::int8_t>(n, as);
  if (format.bits == 16) return integers<std::int16_t>(n, as);
  return by_channels<Channel<std::int32_t, As::element>, 4>(n);
}

}  // namespace inflight::texture
