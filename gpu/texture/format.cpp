// Decodes texels into channels, and encodes border colours.
#include "gpu/texture/format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "gpu/numbers/small_floats.hpp"
#include "gpu/texture/srgb.hpp"

namespace inflight::texture {
namespace {

// Reads a channel of type T as 32 bits.
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
    return std::bit_cast<std::uint32_t>(numbers::F16::value(v));
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

// Converts a channel of a colour to an integer. Unsigned ones are truncated, signed ones rounded.
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

std::uint16_t half_below(float value) {
  const auto near = static_cast<std::uint16_t>(numbers::F16::round(value));
  return std::fabs(numbers::F16::value(near)) > std::fabs(value) ? near - 1 : near;
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
