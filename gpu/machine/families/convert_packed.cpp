// cvt of two values at once, to and from 8-bit floating point, to tf32, and cvt.pack (PTX ISA
// 9.7.9, "cvt", "cvt.pack").
#include "gpu/machine/families/rounding.hpp"
#include "gpu/numbers/small_floats.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
using enum Type;

// --- two f32 to a pair: a in the high half, b in the low one ---

template <class Format, Mod R>
U32 half_of(float x) {
  if constexpr (R == Mod::rn) return Format::round(x);
  return RoundHalf<Format, R>::of(x);
}
template <class Format, Mod R, Clamp C>
struct PairOf {
  U32 operator()(float a, float b) const { return one(a) << 16 | one(b); }

 private:
  static U32 one(float x) { return clamp_half<Format, C>(half_of<Format, R>(x)); }
};
template <class Format, Mod R, Clamp C, Mod... M>
constexpr Row pair_row() {
  return {Opcode::cvt,
          {Format::pair, f32},
          {R, M...},
          {Format::pair, f32, f32},
          binary<U32, float, float, PairOf<Format, R, C>>};
}
template <class Format, Mod R>
void pair_rows(Rows& rows) {
  static constexpr Row table[] = {
      pair_row<Format, R, Clamp::none>(),
      pair_row<Format, R, Clamp::relu, Mod::relu>(),
      pair_row<Format, R, Clamp::finite, Mod::satfinite>(),
      pair_row<Format, R, Clamp::finite_relu, Mod::satfinite, Mod::relu>(),
  };
  add_rows(rows, table);
}

// --- tf32: a float whose 13 low bits are zero ---

template <Mod R, bool Finite, bool Relu>
struct Tf32 {
  U32 operator()(float x) const {
    const U32 bits = to_bits(x), m = bits & 0x7fffffff, sign = bits & 0x80000000;
    const U32 away = R == Mod::rna && m < 0x7f800000 ? 0x1000 : 0;
    const U32 r = R == Mod::rn ? numbers::round_to_tf32(m) : (m + away) & 0xffffe000;
    const U32 kept = Finite && r >= 0x7f800000 ? 0x7f7fe000 : r;
    if (m > 0x7f800000) return R == Mod::rna ? bits & 0xffffe000 : canonical_nan_bits & 0xffffe000;
    return Relu && sign ? 0 : kept | sign;
  }
};
template <Mod R, bool Finite, bool Relu, Mod... M>
constexpr Row tf32_row() {
  return {
      Opcode::cvt, {tf32, f32}, {R, M...}, {tf32, f32}, unary<U32, float, Tf32<R, Finite, Relu>>};
}
template <Mod R>
void tf32_rows(Rows& rows) {
  static constexpr Row table[] = {
      tf32_row<R, false, false>(),
      tf32_row<R, false, true, Mod::relu>(),
      tf32_row<R, true, false, Mod::satfinite>(),
      tf32_row<R, true, true, Mod::satfinite, Mod::relu>(),
  };
  add_rows(rows, table);
}

// --- 8-bit formats: overflow gives the greatest finite value (.satfinite) ---

struct E4m3 {
  static constexpr Type pair = e4m3x2;
  static constexpr int exponent_bits = 4, fraction_bits = 3;
  static constexpr U32 greatest = 0x7e, nan = 0x7f;
  // To f16, which can represent every value: 4 exponent bits of bias 7 become 5 of bias 15.
  static U32 half(U32 x) {
    const float value = from_bits<float>((x & 0x7f) << 20) * 0x1p120f;
    const U32 sign = (x & 0x80) << 8;
    return (x & 0x7f) == nan ? half_nan_bits : F16::round(value) | sign;
  }
};
struct E5m2 {
  static constexpr Type pair = e5m2x2;
  static constexpr int exponent_bits = 5, fraction_bits = 2;
  static constexpr U32 greatest = 0x7b, nan = 0x7f;
  static U32 half(U32 x) { return (x & 0x7f) > 0x7c ? half_nan_bits : x << 8; }
};
template <class Format, bool Relu>
U32 narrow(float x) {
  const U64 bits = to_bits(double{x});
  const U64 m = rounded_magnitude<Format::exponent_bits, Format::fraction_bits, Mod::rn>(bits);
  const U32 kept = m > Format::greatest ? Format::greatest : static_cast<U32>(m);
  const bool negative = bits >> 63;
  if (x != x) return Format::nan;
  return Relu && negative ? 0 : kept | (negative ? 0x80 : 0);
}
template <class Format, bool Relu>
struct BytesOf {
  U32 operator()(float a, float b) const {
    return narrow<Format, Relu>(a) << 8 | narrow<Format, Relu>(b);
  }
  U32 operator()(U32 pair) const {
    return (*this)(F16::value(pair >> 16), F16::value(pair & 0xffff));
  }
};
template <class Format, bool Relu>
struct HalvesOf {
  U32 operator()(U32 pair) const { return one(pair >> 8 & 0xff) << 16 | one(pair & 0xff); }

 private:
  static U32 one(U32 x) {
    return clamp_half < F16, Relu ? Clamp::relu : Clamp::none > (Format::half(x));
  }
};
template <class Format>
void byte_rows(Rows& rows) {
  using enum Mod;
  constexpr Type T = Format::pair;
  static constexpr Row table[] = {
      {Opcode::cvt,
       {T, f32},
       {rn, satfinite},
       {T, f32, f32},
       binary<U16, float, float, BytesOf<Format, false>>},
      {Opcode::cvt,
       {T, f32},
       {rn, satfinite, relu},
       {T, f32, f32},
       binary<U16, float, float, BytesOf<Format, true>>},
      {Opcode::cvt,
       {T, f16x2},
       {rn, satfinite},
       {T, f16x2},
       unary<U16, U32, BytesOf<Format, false>>},
      {Opcode::cvt,
       {T, f16x2},
       {rn, satfinite, relu},
       {T, f16x2},
       unary<U16, U32, BytesOf<Format, true>>},
      {Opcode::cvt, {f16x2, T}, {rn}, {f16x2, T}, unary<U32, U16, HalvesOf<Format, false>>},
      {Opcode::cvt, {f16x2, T}, {rn, relu}, {f16x2, T}, unary<U32, U16, HalvesOf<Format, true>>},
  };
  add_rows(rows, table);
}

// --- cvt.pack.sat: two clamped integers, placed above the low bits of c ---

template <Type To, class T>
U32 saturated(T x) {
  using D = Lane<To>;
  constexpr int width = To == u4 || To == s4 ? 4 : 8 * sizeof(D);
  constexpr bool is_signed = To == s4 || ptx::is_signed(To);
  constexpr S64 high = (S64{1} << (width - is_signed)) - 1, low = is_signed ? -high - 1 : 0;
  const S64 v = S64{x};
  return static_cast<U32>(v < low ? low : v > high ? high : v) & ((1u << width) - 1);
}
template <Type To>
struct PackTwo {
  template <class T>
  U32 operator()(T a, T b) const {
    return saturated<To>(a) << 16 | saturated<To>(b);
  }
};
template <Type To, int Width>
struct PackOnto {
  template <class T>
  U32 operator()(T a, T b, U32 c) const {
    return c << (2 * Width) | saturated<To>(a) << Width | saturated<To>(b);
  }
};
template <Type From>
void pack_rows(Rows& rows) {
  using T = Lane<From>;
  using enum Mod;
  static constexpr Row table[] = {
      {Opcode::cvt, {u16, From}, {pack, sat}, {u32, From, From}, binary<U32, T, T, PackTwo<u16>>},
      {Opcode::cvt, {s16, From}, {pack, sat}, {u32, From, From}, binary<U32, T, T, PackTwo<s16>>},
      {Opcode::cvt,
       {u8, From, b32},
       {pack, sat},
       {u32, From, From, b32},
       ternary<U32, T, T, U32, PackOnto<u8, 8>>},
      {Opcode::cvt,
       {s8, From, b32},
       {pack, sat},
       {u32, From, From, b32},
       ternary<U32, T, T, U32, PackOnto<s8, 8>>},
      {Opcode::cvt,
       {u4, From, b32},
       {pack, sat},
       {u32, From, From, b32},
       ternary<U32, T, T, U32, PackOnto<u4, 4>>},
      {Opcode::cvt,
       {s4, From, b32},
       {pack, sat},
       {u32, From, From, b32},
       ternary<U32, T, T, U32, PackOnto<s4, 4>>},
  };
  add_rows(rows, table);
}

}  // namespace

void convert_packed_rows(Rows& rows) {
  pair_rows<F16, Mod::rn>(rows);
  pair_rows<F16, Mod::rz>(rows);
  pair_rows<Bf16, Mod::rn>(rows);
  pair_rows<Bf16, Mod::rz>(rows);
  tf32_rows<Mod::rna>(rows);
  tf32_rows<Mod::rn>(rows);
  tf32_rows<Mod::rz>(rows);
  byte_rows<E4m3>(rows);
  byte_rows<E5m2>(rows);
  pack_rows<s32>(rows);
  pack_rows<u32>(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
