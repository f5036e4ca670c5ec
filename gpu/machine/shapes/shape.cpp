// Shapes of sums, products, shifts and masks.
#include "gpu/machine/shapes/shape.hpp"

#include <algorithm>
#include <bit>

namespace inflight::machine {
namespace {

using Kind = Shape::Kind;
using Reach = Shape::Reach;

constexpr unsigned half_lanes = 16;

std::int64_t wrapped(std::uint64_t a) { return static_cast<std::int64_t>(a); }

// The steps from the first lane to the last.
std::uint64_t last_lane(const Shape& a) { return a.reach == Reach::warp ? 31 : half_lanes - 1; }

// The same in halves: the second half's base is half_lanes steps behind the first's.
Shape in_halves(Shape a) {
  if (a.reach == Reach::half) return a;
  a.reach = Reach::half;
  if (a.stride != 0) {
    const std::uint64_t between = static_cast<std::uint64_t>(a.stride) * half_lanes;
    a.zeros = static_cast<std::uint8_t>(std::min<unsigned>(a.zeros, zeros_of(between)));
  }
  return a;
}

// Both with the reach that both have.
void align(Shape& a, Shape& b) {
  if (a.reach == b.reach) return;
  a = in_halves(a), b = in_halves(b);
}

// What the lanes add to the base changes only low bits that are zero in it. `low`: those bits.
bool is_split(const Shape& a, std::uint64_t& low) {
  if (!a.is_affine() || a.stride < 0) return false;
  const std::uint64_t stride = static_cast<std::uint64_t>(a.stride);
  if (stride > UINT64_MAX / 32) return false;
  const std::uint64_t most = stride * last_lane(a);
  low = most == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(most);
  return static_cast<unsigned>(std::bit_width(most)) <= a.zeros;
}

}  // namespace

unsigned zeros_of(std::uint64_t constant) {
  return static_cast<unsigned>(std::countr_zero(constant));
}

std::int64_t in_width(std::uint64_t stride, unsigned bits) {
  return bits >= 64 ? wrapped(stride) : wrapped(stride << (64 - bits)) >> (64 - bits);
}

Shape join(Shape a, Shape b) {
  if (!a.known()) return b;
  if (!b.known()) return a;
  if (a.is_affine() && b.is_affine()) {
    if (a.stride != b.stride) return Shape::lanes();
    align(a, b);
    a.zeros = std::min(a.zeros, b.zeros);
    return a;
  }
  // A flat predicate does not change where it reaches.
  const auto ordered = [](const Shape& s) { return s.kind == Kind::monotone || s.is_flat(); };
  if ((a.kind == Kind::monotone || b.kind == Kind::monotone) && ordered(a) && ordered(b))
    return Shape::monotone(a.reach == b.reach ? a.reach : Reach::half);
  return Shape::lanes();
}

Shape pointwise(Shape a, Shape b) {
  if (a.kind == Kind::lanes || b.kind == Kind::lanes) return Shape::lanes();
  if (!a.known() || !b.known()) return {};
  if (!a.is_flat() || !b.is_flat()) return Shape::lanes();
  return Shape::affine(a.reach == b.reach ? a.reach : Reach::half, 0);
}

Shape sum(Shape a, Shape b, unsigned bits) {
  if (!a.is_affine() || !b.is_affine()) return pointwise(a, b);
  align(a, b);
  const std::uint64_t stride =
      static_cast<std::uint64_t>(a.stride) + static_cast<std::uint64_t>(b.stride);
  return Shape::affine(a.reach, in_width(stride, bits), std::min(a.zeros, b.zeros));
}

Shape negative(Shape a, unsigned bits) {
  if (!a.is_affine()) return pointwise(a, a);
  a.stride = in_width(0 - static_cast<std::uint64_t>(a.stride), bits);
  return a;
}

Shape complement(Shape a, unsigned bits) {
  Shape result = negative(a, bits);
  result.zeros = 0;
  return result;
}

Shape product(Shape a, std::uint64_t constant, unsigned bits) {
  if (!a.is_affine()) return pointwise(a, a);
  a.stride = in_width(static_cast<std::uint64_t>(a.stride) * constant, bits);
  a.zeros =
      static_cast<std::uint8_t>(std::min<unsigned>(a.zeros + zeros_of(constant), Shape::all_zeros));
  return a;
}

Shape shifted_left(Shape a, unsigned by, unsigned bits) {
  if (by >= bits) return pointwise(a, a);
  return product(a, std::uint64_t{1} << by, bits);
}

Shape shifted_right(Shape a, unsigned by, unsigned bits) {
  std::uint64_t low = 0;
  if (by >= bits || !is_split(a, low)) return pointwise(a, a);
  const unsigned left = a.zeros == Shape::all_zeros ? Shape::all_zeros
                        : a.zeros > by              ? a.zeros - by
                                                    : 0u;
  if (low >> by == 0) return Shape::affine(a.reach, 0, left);
  if (a.zeros < by || a.stride % (std::int64_t{1} << by) != 0) return Shape::lanes();
  return Shape::affine(a.reach, a.stride >> by, left);
}

Shape masked(Shape a, std::uint64_t constant, unsigned bits) {
  std::uint64_t low = 0;
  if (!is_split(a, low)) return pointwise(a, a);
  const std::uint64_t kept = bits >= 64 ? constant : constant & ((std::uint64_t{1} << bits) - 1);
  // Above the lanes' bits, only the base's bits that the mask keeps may be set.
  const std::uint64_t base = a.zeros >= 64 ? 0 : kept & (~std::uint64_t{0} << a.zeros);
  if ((kept & low) == low) return Shape::affine(a.reach, a.stride, zeros_of(base));
  if ((kept & low) == 0) return Shape::affine(a.reach, 0, zeros_of(base));
  return Shape::lanes();
}

Shape combined(Shape a, Shape b, unsigned bits) {
  if (!a.is_affine() || !b.is_affine()) return pointwise(a, b);
  if (a.is_flat() && b.is_flat()) {
    Shape both = pointwise(a, b);
    both.zeros = std::min(a.zeros, b.zeros);
    return both;
  }
  // Without a bit that both may have, it is their sum.
  align(a, b);
  if (b.zeros == Shape::all_zeros) std::swap(a, b);
  std::uint64_t low = 0;
  if (a.zeros != Shape::all_zeros || !is_split(a, low)) return Shape::lanes();
  const bool apart = b.is_flat() && static_cast<unsigned>(std::bit_width(low)) <= b.zeros;
  return apart ? sum(a, b, bits) : Shape::lanes();
}

Shape truncated(Shape a, unsigned bits) {
  if (!a.is_affine()) return a;
  a.stride = in_width(static_cast<std::uint64_t>(a.stride), bits);
  return a;
}

bool never_crosses(Shape a, unsigned zeros) {
  std::uint64_t low = 0;
  return is_split(a, low) && static_cast<unsigned>(std::bit_width(low)) <= zeros;
}

}  // namespace inflight::machine
