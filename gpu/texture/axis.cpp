// Converts coordinates to fixed point and applies address modes.
#include "gpu/texture/axis.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace inflight::texture {
namespace {

// The number of fraction bits of a normalized coordinate. Lower bits are truncated. Measured: 21
// for up to 1000 texels, and 22 for 30000.
int coordinate_bits(std::uint32_t size) {
  return std::max(21, static_cast<int>(std::bit_width(size - 1)) + 7);
}
// Coordinates in texels are clamped to this, which is past any texture.
constexpr double far_away = 1 << 30;

// Requires that the result fits into an integer.
std::int64_t floor_of(double x) {
  const auto cut = static_cast<std::int64_t>(x);
  return cut - (static_cast<double>(cut) > x);
}

bool is_zero(double x) { return std::isnan(x) || std::fabs(x) < 0x1p-126f; }

// Returns the coordinate in texels, in steps of 2^-bits.
std::int64_t from_normalized(double x, const Dimension& along, int bits) {
  const double one = 1 << bits;
  double steps = is_zero(x) ? 0 : x * one;
  if (along.address == Address::wrap || along.address == Address::mirror) {
    // Wrap and mirror repeat after twice the size.
    if (std::fabs(steps) >= 0x1p62) steps = std::isfinite(steps) ? std::fmod(steps, 2 * one) : 0;
    return (floor_of(steps) & ((std::int64_t{2} << bits) - 1)) * along.size;
  }
  return floor_of(std::clamp(steps, -4 * one, 4 * one)) * along.size;
}

// Wrap and mirror need normalized coordinates. Without them they act as clamp.
Address mode_of(const Dimension& along) {
  const bool wraps = along.address == Address::wrap || along.address == Address::mirror;
  return wraps && !along.normalized ? Address::clamp : along.address;
}

double from_texels(double x) { return is_zero(x) ? 0 : std::clamp(x, -far_away, far_away); }

}  // namespace

std::int32_t addressed(std::int64_t i, const Dimension& along) {
  const auto n = static_cast<std::int64_t>(along.size);
  if (along.endless || (i >= 0 && i < n)) return static_cast<std::int32_t>(i);
  switch (mode_of(along)) {
    case Address::wrap:
      i %= n;
      if (i < 0) i += n;
      break;
    case Address::mirror:
      i %= 2 * n;
      if (i < 0) i += 2 * n;
      if (i >= n) i = 2 * n - 1 - i;
      break;
    case Address::clamp:
      i = std::clamp<std::int64_t>(i, 0, n - 1);
      break;
    case Address::border:
      return Axis::border;
  }
  return static_cast<std::int32_t>(i);
}

Axis nearest(double x, std::int32_t offset, const Dimension& along, std::int32_t moved) {
  const int bits = coordinate_bits(along.size);
  const std::int64_t i =
      along.normalized
          ? (from_normalized(x, along, bits) + (std::int64_t{moved} << (bits - fraction_bits))) >>
                bits
          : floor_of(from_texels(x) + moved / double{whole});
  const std::int32_t texel = addressed(i + offset, along);
  return {{texel, texel}, 0};
}

Axis between(double x, std::int32_t offset, const Dimension& along, std::int32_t moved) {
  const int bits = coordinate_bits(along.size), cut = bits - fraction_bits;
  const std::int64_t steps =
      along.normalized ? (from_normalized(x, along, bits) + (std::int64_t{1} << (cut - 1))) >> cut
                       : floor_of(from_texels(x) * whole + 0.5);
  const std::int64_t centred = steps + moved - whole / 2, i = (centred >> fraction_bits) + offset;
  const std::int32_t first = addressed(i, along), second = addressed(i + 1, along);
  if (first == second && mode_of(along) == Address::clamp) return {{first, first}, 0};
  return {{first, second}, static_cast<std::uint32_t>(centred & (whole - 1))};
}

}  // namespace inflight::texture
