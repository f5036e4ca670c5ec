// Shifts, bit fields, bit counting and byte permutation (PTX ISA 9.7.1, 9.7.8 and 9.7.9).
#include "gpu/machine/families/rows.hpp"
#include "gpu/machine/lowering/lowering.hpp"

namespace inflight::machine::INFLIGHT_ISA {
namespace {

using enum Opcode;
using enum Type;

// --- shifts: amounts above the width act as the width (PTX ISA, "shl", "shr") ---

template <class T>
constexpr U32 width = 8 * sizeof(T);
struct Shl {
  template <class T>
  T operator()(T a, U32 n) const {
    return n < width<T> ? static_cast<T>(a << n) : T{0};
  }
};
struct Shr {
  template <class T>
  T operator()(T a, U32 n) const {
    if constexpr (T(-1) < T(0)) return static_cast<T>(a >> (n < width<T> ? n : width<T> - 1));
    return n < width<T> ? static_cast<T>(a >> n) : T{0};
  }
};
template <Opcode O, class F, Type... T>
void shifts(Rows& rows) {
  static constexpr Row table[] = {
      Row{O, {T}, {}, {T, T, u32}, binary<Lane<T>, Lane<T>, U32, F>}...};
  add_rows(rows, table);
}

// shf: 64 bits {b, a} shifted; the high word for .l, the low word for .r.
template <bool Left, bool Wrap>
struct Funnel {
  U32 operator()(U32 a, U32 b, U32 n) const {
    const U64 both = U64{b} << 32 | a;
    const U32 shift = Wrap ? n & 31 : n < 32 ? n : 32;
    return static_cast<U32>(Left ? both << shift >> 32 : both >> shift);
  }
};

// --- bit fields ---

// A position or length. For words its low 8 bits count; for 64 bits all of it, clamped to the width
// (PTX ISA, "bfe", and measured on an H200).
template <class T>
U32 field_operand(U32 n) {
  if constexpr (sizeof(T) == 4) return n & 0xff;
  return n < width<T> ? n : width<T>;
}
// bfe: bits past the top copy the sign bit of the field if signed, else are 0 (PTX ISA, "bfe").
struct Bfe {
  template <class T>
  T operator()(T a, U32 position, U32 length) const {
    using U = BitsOf<T>;
    constexpr U32 top = width<T> - 1;
    const U32 pos = field_operand<T>(position), len = field_operand<T>(length), end = pos + len;
    const U32 last = len == 0 ? 0 : end - 1 < top ? end - 1 : top;
    const bool is_signed = T(-1) < T(0);
    const U sign = is_signed && len != 0 ? 0 - (to_bits(a) >> last & 1) : U{0};
    const U32 inside = end <= width<T> ? len : pos < width<T> ? width<T> - pos : 0;
    const U field = pos < width<T> ? to_bits(a) >> (pos & top) : U{0};
    const U mask = inside < width<T> ? (U{1} << (inside & top)) - 1 : static_cast<U>(~U{0});
    return static_cast<T>((field & mask) | (sign & ~mask));
  }
};
template <class T>
T insert(T field, T into, U32 position, U32 length) {
  constexpr U32 top = width<T> - 1;
  const U32 pos = field_operand<T>(position), len = field_operand<T>(length);
  const T ones = len < width<T> ? (T{1} << (len & top)) - 1 : static_cast<T>(~T{0});
  const bool inside = pos < width<T>;
  const T mask = inside ? ones << (pos & top) : T{0}, moved = field << (pos & top);
  return (into & ~mask) | (moved & mask);
}
template <class T>
const Op* bfi_lanes(Warp& w, const Op* op) {
  const T *a = w.at<T>(op->a), *b = w.at<T>(op->b);
  const U32* position = w.at<U32>(op->c);
  const U32* length = w.at<U32>(static_cast<Ref>(op->imm));
  write<T>(w, op->d, [=](int l) { return insert(a[l], b[l], position[l], length[l]); });
  return op + 1;
}
bool lower_bfi(Lowering& lo, const Row& row) {
  if (lo.operands.size() != 5) return lo.refuse("bfi takes five operands");
  const Type t = row.types[0];
  const Ref a = lo.source(lo.operands[1], t), b = lo.source(lo.operands[2], t);
  const Ref c = lo.source(lo.operands[3], Type::u32), n = lo.source(lo.operands[4], Type::u32);
  const Ref d = lo.destination(lo.operands[0], t);
  Op& op = lo.emit(row.handler);
  op.d = d, op.a = a, op.b = b, op.c = c, op.imm = n;
  return true;
}

// bmsk: b ones from bit a (PTX ISA, "bmsk"). szext: bit b-1 copied upwards, or zeros.
template <bool Wrap>
struct Bmsk {
  U32 operator()(U32 a, U32 b) const {
    if (Wrap) return ((1u << (b & 31)) - 1) << (a & 31);
    if (a >= 32 || b == 0) return 0;
    return (b >= 32 ? ~0u : (1u << b) - 1) << a;
  }
};
template <bool Wrap>
struct Szext {
  template <class T>
  T operator()(T a, U32 b) const {
    const U32 n = Wrap ? b & 31 : b;
    if (n >= 32) return a;
    const U32 spare = 32 - n;
    if (n == 0) return 0;
    return static_cast<T>(static_cast<T>(to_bits(a) << spare) >> spare);
  }
};

// --- counting ---

// Sums pairs of bits, then of wider fields. Every SIMD instruction set has these steps.
struct Popc {
  U32 operator()(U32 a) const {
    a -= a >> 1 & 0x55555555;
    a = (a & 0x33333333) + (a >> 2 & 0x33333333);
    a = (a + (a >> 4)) & 0x0f0f0f0f;
    return a * 0x01010101 >> 24;
  }
  U32 operator()(U64 a) const {
    return (*this)(static_cast<U32>(a)) + (*this)(static_cast<U32>(a >> 32));
  }
};
struct Clz {
  template <class T>
  U32 operator()(T a) const {
    if (a == 0) return width<T>;
    return static_cast<U32>(sizeof(T) == 8 ? __builtin_clzll(a) : __builtin_clz(a));
  }
};
// The highest bit that differs from the sign; -1 if there is none.
template <bool ShiftAmount>
struct Bfind {
  template <class T>
  U32 operator()(T a) const {
    const auto bits = to_bits(a < 0 ? static_cast<T>(~a) : a);
    const U32 zeros = Clz{}(bits);
    if (bits == 0) return ~0u;
    return ShiftAmount ? zeros : width<T> - 1 - zeros;
  }
};
struct Brev {
  U32 operator()(U32 a) const {
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
  }
  U64 operator()(U64 a) const {
    return U64{(*this)(static_cast<U32>(a))} << 32 | (*this)(static_cast<U32>(a >> 32));
  }
};
// fns: the offset-th set bit of the mask from base, up or down; base itself counts as the first
// (PTX ISA, "fns").
struct Fns {
  U32 operator()(U32 mask, U32 base, S32 offset) const {
    if (base > 31) return ~0u;
    if (offset == 0) return mask >> base & 1 ? base : ~0u;
    const S32 step = offset > 0 ? 1 : -1;
    S32 left = offset > 0 ? offset : offset == INT32_MIN ? INT32_MAX : -offset;
    for (S32 at = static_cast<S32>(base); at >= 0 && at < 32; at += step)
      if ((mask >> at & 1) && --left == 0) return static_cast<U32>(at);
    return ~0u;
  }
};

// --- prmt (PTX ISA, "prmt") ---

U32 byte_of(U64 both, U32 index) { return static_cast<U32>(both >> (8 * (index & 7))) & 0xff; }
struct Prmt {
  U32 operator()(U32 a, U32 b, U32 selector) const {
    const U64 both = U64{b} << 32 | a;
    U32 r = 0;
    for (U32 i = 0; i < 4; ++i) {
      const U32 pick = selector >> (4 * i) & 0xf, byte = byte_of(both, pick);
      r |= (pick & 8 ? (0 - (byte >> 7)) & 0xff : byte) << (8 * i);
    }
    return r;
  }
};
// The modes use the selector's two low bits n. Nibble i of entry n is the index of the byte that
// goes to byte i.
template <int Mode>
struct PrmtMode {
  static constexpr U32 selectors[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
      {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
      {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
      {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
      {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
      {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
  };
  U32 operator()(U32 a, U32 b, U32 c) const { return Prmt{}(a, b, selectors[Mode][c & 3]); }
};
template <int Mode>
constexpr Handler prmt_mode = ternary<U32, U32, U32, U32, PrmtMode<Mode>>;

void shift_rows(Rows& rows) {
  using enum Type;
  shifts<shl, Shl, b16, b32, b64>(rows);
  shifts<shr, Shr, b16, b32, b64, Type::u16, u32, u64, s16, s32, s64>(rows);
  ternaries<shf, With<Mod::l, Mod::wrap>, Funnel<true, true>, b32>(rows);
  ternaries<shf, With<Mod::l, Mod::clamp>, Funnel<true, false>, b32>(rows);
  ternaries<shf, With<Mod::r, Mod::wrap>, Funnel<false, true>, b32>(rows);
  ternaries<shf, With<Mod::r, Mod::clamp>, Funnel<false, false>, b32>(rows);
}

template <Type... T>
void field_rows(Rows& rows) {
  static constexpr Row table[] = {
      Row{bfe, {T}, {}, {T, T, u32, u32}, ternary<Lane<T>, Lane<T>, U32, U32, Bfe>}...,
      Row{bfind, {T}, {}, {u32, T}, unary<U32, Lane<T>, Bfind<false>>}...,
      Row{bfind, {T}, {Mod::shiftamt}, {u32, T}, unary<U32, Lane<T>, Bfind<true>>}...};
  add_rows(rows, table);
}
template <Type... T>
void counting_rows(Rows& rows) {
  static constexpr Row table[] = {Row{popc, {T}, {}, {u32, T}, unary<U32, Bits<T>, Popc>}...,
                                  Row{clz, {T}, {}, {u32, T}, unary<U32, Bits<T>, Clz>}...,
                                  Row{brev, {T}, {}, {T, T}, unary<Bits<T>, Bits<T>, Brev>}...,
                                  Row{bfi, {T}, {}, {}, bfi_lanes<Bits<T>>, lower_bfi}...};
  add_rows(rows, table);
}

void word_rows(Rows& rows) {
  using enum Type;
  bit_binaries<bmsk, With<Mod::clamp>, Bmsk<false>, b32>(rows);
  bit_binaries<bmsk, With<Mod::wrap>, Bmsk<true>, b32>(rows);
  static constexpr Row table[] = {
      {szext, {u32}, {Mod::clamp}, {u32, u32, u32}, binary<U32, U32, U32, Szext<false>>},
      {szext, {u32}, {Mod::wrap}, {u32, u32, u32}, binary<U32, U32, U32, Szext<true>>},
      {szext, {s32}, {Mod::clamp}, {s32, s32, u32}, binary<S32, S32, U32, Szext<false>>},
      {szext, {s32}, {Mod::wrap}, {s32, s32, u32}, binary<S32, S32, U32, Szext<true>>},
      {fns, {b32}, {}, {b32, b32, u32, s32}, ternary<U32, U32, U32, S32, Fns>},
      {prmt, {b32}, {}, {b32, b32, b32, b32}, ternary<U32, U32, U32, U32, Prmt>},
      {prmt, {b32}, {Mod::f4e}, {b32, b32, b32, b32}, prmt_mode<0>},
      {prmt, {b32}, {Mod::b4e}, {b32, b32, b32, b32}, prmt_mode<1>},
      {prmt, {b32}, {Mod::rc8}, {b32, b32, b32, b32}, prmt_mode<2>},
      {prmt, {b32}, {Mod::ecl}, {b32, b32, b32, b32}, prmt_mode<3>},
      {prmt, {b32}, {Mod::ecr}, {b32, b32, b32, b32}, prmt_mode<4>},
      {prmt, {b32}, {Mod::rc16}, {b32, b32, b32, b32}, prmt_mode<5>},
  };
  add_rows(rows, table);
}

}  // namespace

void bits_rows(Rows& rows) {
  using enum Type;
  shift_rows(rows);
  field_rows<u32, u64, s32, s64>(rows);
  counting_rows<b32, b64>(rows);
  word_rows(rows);
}

}  // namespace inflight::machine::INFLIGHT_ISA
