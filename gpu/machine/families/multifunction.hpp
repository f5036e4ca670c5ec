// The instructions of an H100's multifunction unit (MUFU), to the bit. Subnormal arguments and
// results become zeros.
#pragma once
#include "gpu/machine/families/multifunction_tables.hpp"
#include "gpu/machine/families/real.hpp"
#include "gpu/numbers/multifunction.hpp"

namespace inflight::machine::INFLIGHT_ISA::mufu {

using numbers::multifunction::interpolate;
using numbers::multifunction::square;
using numbers::multifunction::Sum;

// Clears the bits below the leading 24.
[[gnu::always_inline]] inline U32 leading(U32 value) {
  U32 below = value >> 24;
  below |= below >> 1;
  below |= below >> 2;
  below |= below >> 4;
  return value & ~below;
}
// A sum below 2^38, in units of `unit`.
[[gnu::always_inline]] inline float normalized(Sum sum, float unit) {
  const bool small = sum.high < 0x00800000;
  const U32 value = pick(small, sum.high << 8 | sum.low, sum.high);
  return static_cast<float>(static_cast<S32>(leading(value))) * pick(small, unit, unit * 256);
}

[[gnu::always_inline]] inline float with_sign(U32 magnitude, U32 sign) {
  return from_bits<float>(magnitude | (sign & 0x80000000));
}

constexpr U32 infinity_bits = 0x7f800000;

struct Rcp {
  float operator()(float x) const { return numbers::multifunction::reciprocal(x); }
};

// The roots' tables have two halves: for even exponents (as biased) and for odd ones.
struct Rsq {
  // 2^24 / sqrt(m) - 2^23 of the m in [1, 4) with this fraction and low bit of the exponent.
  [[gnu::always_inline]] static U32 part(U32 bits) {
    const Sum s = interpolate<14, -1, 1, 0x3fff>(multifunction::reciprocal_root, bits >> 17 & 127,
                                                 bits & 0x1ffff);
    return pick((bits & 0xffffff) == 0x800000, U32{0x800000}, (s.high ^ 0x80000000) >> 8);
  }
  float operator()(float x) const {
    const U32 bits = to_bits(x), exponent = bits >> 23 & 255;
    const U32 r = part(bits) + ((190 - ((exponent + 1) >> 1)) << 23);
    const U32 positive = pick(bits == infinity_bits, U32{0}, r);
    const float zero = with_sign(infinity_bits, bits);
    return pick(exponent == 0, zero, pick(x > 0, from_bits<float>(positive), canonical_nan()));
  }
};
struct Sqrt {
  float operator()(float x) const {
    const U32 bits = to_bits(x), exponent = bits >> 23 & 255;
    const Sum s =
        interpolate<15, 1, -1, 0x7fff>(multifunction::root, bits >> 17 & 127, bits & 0x1ffff);
    const U32 r = (s.high >> 9) + ((63 + ((exponent + 1) >> 1)) << 23);
    const U32 positive = pick(bits == infinity_bits, infinity_bits, r);
    const float zero = with_sign(0, bits);
    return pick(exponent == 0, zero, pick(x > 0, from_bits<float>(positive), canonical_nan()));
  }
};

// The argument is cut off to 23 bits after the point. The fraction of a negative one is
// complemented, not negated.
struct Ex2 {
  float operator()(float x) const {
    const float magnitude = from_bits<float>(to_bits(x) & 0x7fffffff);
    const float bounded = pick(magnitude < 255, magnitude, 255.0f);
    const S32 fixed = static_cast<S32>(bounded * 0x1p23f);
    const S32 negated = ~fixed + ((fixed & 0x7fffff) == 0);
    const S32 place = pick(to_bits(x) >> 31, negated, fixed);
    const S32 exponent = place >> 23;
    const Sum s =
        interpolate<13, 1, 1, 6114>(multifunction::exponential, place >> 17 & 63, place & 0x1ffff);
    const U32 r = ((s.high - 0x40000000) >> 7) + (static_cast<U32>(exponent + 127) << 23);
    const U32 bits = pick(exponent > 127, infinity_bits, pick(exponent < -126, U32{0}, r));
    return pick(x != x, canonical_nan(), from_bits<float>(bits));
  }
};

// The exponent plus the fraction's logarithm. A negative sum is complemented, not negated.
struct Lg2 {
  float operator()(float x) const {
    const U32 bits = to_bits(x);
    const S32 exponent = static_cast<S32>(bits >> 23) - 127;
    const Sum s =
        interpolate<12, 1, -1, 837>(multifunction::logarithm, bits >> 17 & 63, bits & 0x1ffff);
    const bool near = (exponent == 0) | (exponent == -1);
    const U32 in_30_bits = (static_cast<U32>(exponent) << 30) + s.high;
    const U32 in_23_bits = (static_cast<U32>(exponent) << 23) + (s.high >> 7);
    const U32 sum = pick(near, in_30_bits, in_23_bits);
    const U32 sign = static_cast<U32>(static_cast<S32>(sum) >> 31);
    const float unit = pick(near, 0x1p-38f, 0x1p-31f);
    const float r = normalized({sum ^ sign, (s.low ^ sign) & 252}, unit);
    const float positive = pick(bits == 0x3f800000, 0.0f, with_sign(to_bits(r), sign));
    const float finite = pick((bits & infinity_bits) == 0, -from_bits<float>(infinity_bits),
                              pick(x > 0, positive, canonical_nan()));
    return pick(bits == infinity_bits, x, finite);
  }
};

// The sine and cosine of 2 pi t in one: t, cut off to 25 bits after the point, gives a quarter and
// the place in it. In odd quarters the place is complemented.
template <U32 Quarter>
struct Turn {
  // x / (2 pi) rounded toward zero, as assemblers multiply the argument first.
  float operator()(float x) const {
    const U32 bits = to_bits(x), significand = (bits & 0x7fffff) | 0x800000;
    const U32 product = static_cast<U32>(U64{significand << 8} * 0xa2f98300 >> 32);
    const U32 rounded = product & ~(127 | (product >> 31 << 7));
    const U32 exponent = bits >> 23 & 255, least = 64;
    const float scale = from_bits<float>((pick(exponent > least, exponent, least) - 26) << 23);
    const float turns = static_cast<float>(static_cast<S32>(rounded >> 7)) * scale;
    const float bounded = pick(turns < 0x1p23f, turns, 0.0f);
    const float whole = (bounded + 0x1p23f) - 0x1p23f;
    const U32 fixed = static_cast<U32>(static_cast<S32>((bounded - whole) * 0x1p25f));
    const U32 quarter = (fixed >> 23) + Quarter;
    const U32 place = fixed ^ (U32{0} - (quarter & 1));
    const Sum s = interpolate<12, 1, -1, 0>(multifunction::sine, place >> 17 & 63, place & 0x1ffff);
    const U32 sign = (Quarter == 0 ? bits : 0) ^ quarter << 30;
    const float r = with_sign(to_bits(normalized(s, 0x1p-37f)), sign);
    return pick(exponent == 255, canonical_nan(), r);
  }
};
using Sin = Turn<0>;
using Cos = Turn<1>;

// The rows of each sixteenth of a power of two. Above C0 is the power's number of segments less 1.
struct TangentRows {
  U64 rows[11 * 16];
  constexpr TangentRows() {
    for (int power = 0, first = 0; power < 11; ++power) {
      const int bits = multifunction::tangent_bits[power];
      for (int i = 0; i < 16; ++i)
        rows[power * 16 + i] = multifunction::hyperbolic_tangent[first + (i >> (4 - bits))] |
                               static_cast<U64>((1 << bits) - 1) << 60;
      first += 1 << bits;
    }
  }
};
constexpr TangentRows tangent;

// x itself below 2^-8. Subnormal arguments count. C0 counts 2^15, and C2 counts 2. The sum without
// its 7 lowest bits is at least 2^24.
struct Tanh {
  float operator()(float x) const {
    const U32 bits = to_bits(x), magnitude = bits & 0x7fffffff;
    const S32 place = static_cast<S32>(magnitude >> 19) - (119 << 4);
    const S64 inside = pick(place < 0, 0, pick(place > 175, 175, place));
    const U64 row = tangent.rows[inside];
    const U32 rest = (bits * (static_cast<U32>(row >> 60) + 1) & 0x7fffff) >> 6;
    const U32 c0 = static_cast<U32>(row >> 36) & 0xffffff;
    const S32 c1 = static_cast<S32>(row >> 16 & 0xfffff), c2 = static_cast<S32>(row & 0xffff);
    const S32 low = (c1 * static_cast<S32>(rest & 127) >> 1) - c2 * static_cast<S32>(square(rest));
    const U32 sum = leading((c0 << 8) + static_cast<U32>(c1 * static_cast<S32>(rest >> 7)) +
                            static_cast<U32>(low >> 6));
    const float upper = static_cast<float>(static_cast<S32>(sum >> 8)) * 0x1p-24f;
    const float r = upper + static_cast<float>(static_cast<S32>(sum & 255)) * 0x1p-32f;
    const float bounded = pick(place < 0, from_bits<float>(magnitude), pick(place > 175, 1.0f, r));
    return pick(x != x, canonical_nan(), with_sign(to_bits(bounded), bits));
  }
};

// The f64 instructions: the result's high word of the argument's.
struct Rcp64 {
  U32 operator()(U32 x) const {
    const U32 exponent = x >> 20 & 2047,
              part = numbers::multifunction::reciprocal_part((x & 0xfffff) << 3) >> 3;
    const S32 r = static_cast<S32>(part + ((2045 - exponent) << 20));
    const U32 normal = pick(r < 0x00100000, U32{0}, static_cast<U32>(r));
    const U32 signless = pick(exponent == 0, U32{0x7ff00000}, normal);
    return pick((x & 0x7fffffff) > 0x7ff00000, U32{0x7fffffff}, signless | (x & 0x80000000));
  }
};
struct Rsq64 {
  U32 operator()(U32 x) const {
    const U32 exponent = x >> 20 & 2047, part = Rsq::part(x << 3) >> 3;
    const U32 r = part + ((1534 - ((exponent + 1) >> 1)) << 20);
    const U32 positive = pick(x == 0x7ff00000, U32{0}, r);
    const U32 other = pick(x > 0x7ff00000, U32{0x7fffffff}, positive);
    return pick(exponent == 0, 0x7ff00000 | (x & 0x80000000), other);
  }
};

}  // namespace inflight::machine::INFLIGHT_ISA::mufu
