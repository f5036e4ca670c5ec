// What the values of one register have in common over the lanes of a warp, and how that carries
// through arithmetic modulo 2^16, 2^32 or 2^64.
#pragma once
#include <cstdint>

namespace inflight::machine {

struct Shape {
  enum class Kind : std::uint8_t {
    unknown,   // nothing has written it yet
    affine,    // base + stride * lane
    monotone,  // a predicate that changes at most once from the first lane to the last
    lanes,     // each lane has a value of its own
  };
  // Where it holds: over the whole warp, or in each half of 16 lanes with a base of its own.
  enum class Reach : std::uint8_t { warp, half };

  Kind kind = Kind::unknown;
  Reach reach = Reach::warp;
  std::uint8_t zeros = 0;   // low bits that are zero in each base: the value of its first lane
  std::int64_t stride = 0;  // of affine, in the register's width, sign-extended
  bool operator==(const Shape&) const = default;

  static constexpr std::uint8_t all_zeros = 64;
  static Shape affine(Reach reach, std::int64_t stride, unsigned zeros = 0) {
    return {Kind::affine, reach, static_cast<std::uint8_t>(zeros), stride};
  }
  static Shape uniform(unsigned zeros = 0) { return affine(Reach::warp, 0, zeros); }
  static Shape monotone(Reach reach) { return {Kind::monotone, reach, 0, 0}; }
  static Shape lanes() { return {Kind::lanes, Reach::warp, 0, 0}; }

  bool known() const { return kind != Kind::unknown; }
  bool is_affine() const { return kind == Kind::affine; }
  // All lanes, or all lanes of a half, have one value.
  bool is_flat() const { return is_affine() && stride == 0; }
  bool is_uniform() const { return is_flat() && reach == Reach::warp; }
};

// The low bits that are zero in a constant.
unsigned zeros_of(std::uint64_t constant);
// A stride as a signed number of `bits` bits.
std::int64_t in_width(std::uint64_t stride, unsigned bits);

// The shape of a register that holds a value of the one or of the other shape.
Shape join(Shape a, Shape b);
// The shape of what a function computes from each lane's values alone.
Shape pointwise(Shape a, Shape b);

// Results of `bits` bits, of operands of the same width.
Shape sum(Shape a, Shape b, unsigned bits);
Shape negative(Shape a, unsigned bits);
Shape complement(Shape a, unsigned bits);
Shape product(Shape a, std::uint64_t constant, unsigned bits);
Shape shifted_left(Shape a, unsigned by, unsigned bits);
Shape shifted_right(Shape a, unsigned by, unsigned bits);
Shape masked(Shape a, std::uint64_t constant, unsigned bits);
// or and xor.
Shape combined(Shape a, Shape b, unsigned bits);
Shape truncated(Shape a, unsigned bits);

// Whether a comparison by order with a value of which the low `zeros` bits are zero has the same
// result in all lanes of a half, or of the warp if the shape reaches over it: x < y or x >= y.
bool never_crosses(Shape a, unsigned zeros);

}  // namespace inflight::machine
