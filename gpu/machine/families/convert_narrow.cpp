// cvt to and from 4-bit and 6-bit floats and scales, of 8-bit floats and bf16, and with random bits
// (PTX ISA 9.7.9, "cvt").
#include "gpu/machine/families/rounding.hpp"
#include "gpu/machine/lowering/lowering.hpp"
#include "gpu/numbers/narrow_floats.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
using enum Type;

// A format with its pairs and quadruples. A pair of 4-bit values is one byte. Others have a byte
// each, whose high bits are zero.
struct E4m3 : numbers::E4m3 {
  static constexpr Type pair = e4m3x2, quad = e4m3x4;
};
struct E5m2 : numbers::E5m2 {
  static constexpr Type pair = e5m2x2, quad = e5m2x4;
};
struct E2m3 : numbers::E2m3 {
  static constexpr Type pair = e2m3x2, quad = e2m3x4;
};
struct E3m2 : numbers::E3m2 {
  static constexpr Type pair = e3m2x2, quad = e3m2x4;
};
struct E2m1 : numbers::E2m1 {
  static constexpr Type pair = e2m1x2, quad = e2m1x4;
};
template <class Format>
constexpr int place_bits = Format::bits == 4 ? 4 : 8;

// Without a NaN in the format, .relu makes a NaN the greatest value, as without it.
template <class Format, bool Relu>
[[gnu::always_inline]] inline U32 clamped(U32 x) {
  if constexpr (!Relu) return x;
  return pick((x & Format::sign) != 0, U32{0}, x);
}

// --- pairs: a in the high part, b in the low one ---

template <class Format, bool Relu>
struct Narrowed {
  U32 operator()(float a, float b) const { return one(a) << place_bits<Format> | one(b); }

 private:
  static U32 one(float x) { return clamped<Format, Relu>(Format::round(x)); }
};
template <class Format, bool Relu, class Half>
struct NarrowedHalves {
  U32 operator()(U32 pair) const {
    return Narrowed<Format, Relu>{}(Half::value(pair >> 16), Half::value(pair & 0xffff));
  }
};
template <class Format, bool Relu, class Half>
struct Widened {
  U32 operator()(U32 pair) const {
    constexpr U32 mask = (1u << place_bits<Format>)-1;
    return one(pair >> place_bits<Format> & mask) << 16 | one(pair & mask);
  }

 private:
  static U32 one(U32 x) {
    constexpr Clamp clamp = Relu ? Clamp::relu : Clamp::none;
    return clamp_half<Half, clamp>(Half::round(Format::value(x)));
  }
};

template <class Format, bool Relu, class Half, class With>
void narrow_rows_of(Rows& rows) {
  constexpr Type from = Half::pair;
  static constexpr Row table[] = {{cvt,
                                   {Format::pair, from},
                                   ModSet{Mod::rn, Mod::satfinite} | With::set,
                                   {b16, from},
                                   unary<U16, U32, NarrowedHalves<Format, Relu, Half>>}};
  add_rows(rows, table);
}
template <class Format, bool Relu, class Half, class With>
void wide_rows_of(Rows& rows) {
  constexpr Type to = Half::pair;
  static constexpr Row table[] = {{cvt,
                                   {to, Format::pair},
                                   ModSet{Mod::rn} | With::set,
                                   {to, b16},
                                   unary<U32, U16, Widened<Format, Relu, Half>>}};
  add_rows(rows, table);
}
template <class Format, bool Relu, class With>
void f32_rows_of(Rows& rows) {
  static constexpr Row table[] = {{cvt,
                                   {Format::pair, f32},
                                   ModSet{Mod::rn, Mod::satfinite} | With::set,
                                   {b16, f32, f32},
                                   binary<U16, float, float, Narrowed<Format, Relu>>}};
  add_rows(rows, table);
}
template <class Format>
void bf16_rows(Rows& rows) {
  narrow_rows_of<Format, false, Bf16, With<>>(rows);
  narrow_rows_of<Format, true, Bf16, With<Mod::relu>>(rows);
  wide_rows_of<Format, false, Bf16, With<>>(rows);
  wide_rows_of<Format, true, Bf16, With<Mod::relu>>(rows);
}
template <class Format>
void all_rows_of(Rows& rows) {
  f32_rows_of<Format, false, With<>>(rows);
  f32_rows_of<Format, true, With<Mod::relu>>(rows);
  narrow_rows_of<Format, false, F16, With<>>(rows);
  narrow_rows_of<Format, true, F16, With<Mod::relu>>(rows);
  wide_rows_of<Format, false, F16, With<>>(rows);
  wide_rows_of<Format, true, F16, With<Mod::relu>>(rows);
  bf16_rows<Format>(rows);
}

// --- scales ---

template <bool Up, bool Finite>
struct Scales {
  U32 operator()(float a, float b) const { return one(a) << 8 | one(b); }
  U32 operator()(U32 pair) const {
    return (*this)(Bf16::value(pair >> 16), Bf16::value(pair & 0xffff));
  }

 private:
  static U32 one(float x) { return numbers::Ue8m0::round(x, Up, Finite); }
};
struct OfScales {
  U32 operator()(U32 pair) const { return one(pair >> 8 & 0xff) << 16 | one(pair & 0xff); }

 private:
  static U32 one(U32 x) { return Bf16::round(numbers::Ue8m0::value(x)); }
};
template <bool Up, bool Finite, Mod... M>
void scale_rows(Rows& rows) {
  static constexpr Row table[] = {
      {cvt,
       {ue8m0x2, f32},
       {M...},
       {ue8m0x2, f32, f32},
       binary<U16, float, float, Scales<Up, Finite>>},
      {cvt, {ue8m0x2, bf16x2}, {M...}, {ue8m0x2, bf16x2}, unary<U16, U32, Scales<Up, Finite>>}};
  add_rows(rows, table);
}

// --- random bits: those of `a` are in the high half, those of `b` in the low one ---

template <class Half>
constexpr int random_bits = 13;  // as many as an f32 has below the fraction of the result
template <>
constexpr int random_bits<Bf16> = 16;

template <class Half, Clamp C>
struct RandomHalves {
  U32 operator()(float a, float b, U32 random) const {
    return one(a, random >> 16) << 16 | one(b, random & 0xffff);
  }

 private:
  static U32 one(float x, U32 random) {
    constexpr int bits = random_bits<Half>, fraction = 23 - bits, exponent = 15 - fraction;
    const U32 f32_bits = to_bits(x), magnitude = f32_bits & 0x7fffffff;
    const U32 r =
        numbers::random_magnitude<exponent, fraction, bits>(magnitude, random & ((1u << bits) - 1));
    const U32 kept = (r > Half::infinity ? Half::infinity : r) | (f32_bits >> 16 & 0x8000);
    return clamp_half<Half, C>(pick(magnitude > 0x7f800000, half_nan_bits, kept));
  }
};
template <class Half, Clamp C, Mod... M>
constexpr Row random_row() {
  return {cvt,
          {Half::pair, f32},
          {Mod::rs, M...},
          {Half::pair, f32, f32, b32},
          ternary<U32, float, float, U32, RandomHalves<Half, C>>};
}
template <class Half>
void random_rows(Rows& rows) {
  static constexpr Row table[] = {
      random_row<Half, Clamp::none>(), random_row<Half, Clamp::relu, Mod::relu>(),
      random_row<Half, Clamp::finite, Mod::satfinite>(),
      random_row<Half, Clamp::finite_relu, Mod::satfinite, Mod::relu>()};
  add_rows(rows, table);
}

// Four values {a, b, e, f}, a in the highest part. a and b both use the 16 bits of the high half of
// the random bits, e and f those of the low one. For 4-bit formats each value has a byte: a and b
// the high bytes of the two halves, e and f the low ones.
template <class Format>
constexpr int random_place = place_bits<Format> == 8 ? 16 : 8;
template <class Format, bool Relu>
[[gnu::always_inline]] inline U32 random_one(float x, U32 random) {
  return clamped<Format, Relu>(Format::template round<random_place<Format>>(x, random));
}
template <class Format>
[[gnu::always_inline]] inline U32 random_of(U32 random, int index) {
  if constexpr (place_bits<Format> == 8) return index < 2 ? random >> 16 : random & 0xffff;
  constexpr int from[] = {24, 8, 16, 0};
  return random >> from[index] & 0xff;
}
// Op::a, b, c and two entries of Op::extra are the sources.
template <class Format, bool Relu>
const Op* random_quads(Warp& w, const Op* op) {
  using Whole = typename Word<place_bits<Format> / 2>::bits;
  const Ref* const rest = w.frame->code->extra.data() + op->extra;
  const float *const a = w.at<float>(op->a), *const b = w.at<float>(op->b),
                     *const e = w.at<float>(op->c), *const f = w.at<float>(rest[0]);
  const U32* const random = w.at<U32>(rest[1]);
  constexpr int bits = place_bits<Format>;
  write<Whole>(w, op->d, [=](int l) {
    const U32 r = random[l];
    return random_one<Format, Relu>(a[l], random_of<Format>(r, 0)) << 3 * bits |
           random_one<Format, Relu>(b[l], random_of<Format>(r, 1)) << 2 * bits |
           random_one<Format, Relu>(e[l], random_of<Format>(r, 2)) << bits |
           random_one<Format, Relu>(f[l], random_of<Format>(r, 3));
  });
  return op + 1;
}
bool lower_quads(Lowering& lo, const Row& row) {
  const auto o = lo.operands;
  if (o.size() != 3 || o[1].kind != ptx::Operand::Kind::vector || o[1].count != 4)
    return lo.refuse("it takes four values in braces and random bits");
  Ref sources[5];
  for (unsigned i = 0; i < 4; ++i)
    if ((sources[i] = lo.source(lo.function.pool[o[1].index + i], f32)) == no_ref) return false;
  if ((sources[4] = lo.source(o[2], b32)) == no_ref) return false;
  const Ref d = lo.destination(o[0], row.types[0]);
  if (d == no_ref) return false;
  const U32 rest = lo.extra({sources + 3, 2});
  Op& op = lo.emit(row.handler);
  op.d = d, op.a = sources[0], op.b = sources[1], op.c = sources[2];
  op.extra = rest;
  return true;
}
template <class Format>
void quad_rows(Rows& rows) {
  constexpr Type T = Format::quad;
  static constexpr Row table[] = {
      {cvt, {T, f32}, {Mod::rs, Mod::satfinite}, {}, random_quads<Format, false>, lower_quads},
      {cvt,
       {T, f32},
       {Mod::rs, Mod::satfinite, Mod::relu},
       {},
       random_quads<Format, true>,
       lower_quads}};
  add_rows(rows, table);
}

}  // namespace

void convert_narrow_rows(Rows& rows) {
  all_rows_of<E2m1>(rows);
  all_rows_of<E2m3>(rows);
  all_rows_of<E3m2>(rows);
  bf16_rows<E4m3>(rows);
  bf16_rows<E5m2>(rows);
  scale_rows<false, false, Mod::rz>(rows);
  scale_rows<false, true, Mod::rz, Mod::satfinite>(rows);
  scale_rows<true, false, Mod::rp>(rows);
  scale_rows<true, true, Mod::rp, Mod::satfinite>(rows);
  static constexpr Row of_scales[] = {
      {cvt, {bf16x2, ue8m0x2}, {Mod::rn}, {bf16x2, ue8m0x2}, unary<U32, U16, OfScales>}};
  add_rows(rows, of_scales);
  random_rows<F16>(rows);
  random_rows<Bf16>(rows);
  quad_rows<E4m3>(rows);
  quad_rows<E5m2>(rows);
  quad_rows<E2m3>(rows);
  quad_rows<E3m2>(rows);
  quad_rows<E2m1>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
