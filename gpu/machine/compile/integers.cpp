// Integer arithmetic, logic and shifts of 32 and 64 bits.
#include "gpu/machine/compile/emit.hpp"

namespace inflight::machine::compile {
namespace {

using ptx::Mod;
using ptx::Opcode;

bool is_integer(const Site& s) { return is_word(s.type()) || is_long(s.type()); }
unsigned bytes_of(const Site& s) { return ptx::size_of(s.type()); }

bool takes_two(const Site& s) { return s.plain() && is_integer(s) && all_are(s, bytes_of(s), 2); }
bool takes_one(const Site& s) { return s.plain() && is_integer(s) && all_are(s, bytes_of(s), 1); }

// d = a op b. `scalar(e, a, b)` on general registers, the result in a.
template <class Scalar, class Vector>
void two(Emitter& e, const Site& s, Scalar scalar, Vector vector) {
  const unsigned bytes = bytes_of(s);
  const Value from[] = {e.value(s.op.a, s.operand(1), bytes), e.value(s.op.b, s.operand(2), bytes)};
  pointwise(
      e, s.operand(0).index, from,
      [&](int h) {
        e.scalar(from[0], h, X::rax);
        e.scalar(from[1], h, X::rcx);
        scalar(e.a, sized(X::rax, bytes), sized(X::rcx, bytes));
      },
      [&](const X::Zmm& to, unsigned p) {
        const X::Zmm x = e.lanes(from[0], p, Emitter::scratch(0)),
                     y = e.lanes(from[1], p, Emitter::scratch(1));
        vector(e.a, bytes == 8, to, x, y);
      });
}

using Asm = X::Assembler;
using G = X::Gp;
using Z = X::Zmm;

void add(Emitter& e, const Site& s) {
  two(
      e, s, [](Asm& a, G x, G y) { a.add(x, y); },
      [](Asm& a, bool wide, Z to, Z x, Z y) { wide ? a.vpaddq(to, x, y) : a.vpaddd(to, x, y); });
}
void sub(Emitter& e, const Site& s) {
  two(
      e, s, [](Asm& a, G x, G y) { a.sub(x, y); },
      [](Asm& a, bool wide, Z to, Z x, Z y) { wide ? a.vpsubq(to, x, y) : a.vpsubd(to, x, y); });
}
void multiply(Emitter& e, const Site& s) {
  two(
      e, s, [](Asm& a, G x, G y) { a.imul(x, y); },
      [](Asm& a, bool wide, Z to, Z x, Z y) { wide ? a.vpmullq(to, x, y) : a.vpmulld(to, x, y); });
}
void bit_and(Emitter& e, const Site& s) {
  two(
      e, s, [](Asm& a, G x, G y) { a.and_(x, y); },
      [](Asm& a, bool, Z to, Z x, Z y) { a.vpandq(to, x, y); });
}
void bit_or(Emitter& e, const Site& s) {
  two(
      e, s, [](Asm& a, G x, G y) { a.or_(x, y); },
      [](Asm& a, bool, Z to, Z x, Z y) { a.vporq(to, x, y); });
}
void bit_xor(Emitter& e, const Site& s) {
  two(
      e, s, [](Asm& a, G x, G y) { a.xor_(x, y); },
      [](Asm& a, bool, Z to, Z x, Z y) { a.vpxorq(to, x, y); });
}

void least(Emitter& e, const Site& s) {
  const bool sign = ptx::is_signed(s.type());
  two(
      e, s,
      [&](Asm& a, G x, G y) {
        a.cmp(y, x);
        sign ? a.cmovl(x, y) : a.cmovb(x, y);
      },
      [&](Asm& a, bool wide, Z to, Z x, Z y) {
        if (wide)
          sign ? a.vpminsq(to, x, y) : a.vpminuq(to, x, y);
        else
          sign ? a.vpminsd(to, x, y) : a.vpminud(to, x, y);
      });
}
void greatest(Emitter& e, const Site& s) {
  const bool sign = ptx::is_signed(s.type());
  two(
      e, s,
      [&](Asm& a, G x, G y) {
        a.cmp(x, y);
        sign ? a.cmovl(x, y) : a.cmovb(x, y);
      },
      [&](Asm& a, bool wide, Z to, Z x, Z y) {
        if (wide)
          sign ? a.vpmaxsq(to, x, y) : a.vpmaxuq(to, x, y);
        else
          sign ? a.vpmaxsd(to, x, y) : a.vpmaxud(to, x, y);
      });
}

template <class Scalar, class Vector>
void one(Emitter& e, const Site& s, Scalar scalar, Vector vector) {
  const unsigned bytes = bytes_of(s);
  const Value from[] = {e.value(s.op.a, s.operand(1), bytes)};
  pointwise(
      e, s.operand(0).index, from,
      [&](int h) {
        e.scalar(from[0], h, X::rax);
        scalar(e.a, sized(X::rax, bytes));
      },
      [&](const X::Zmm& to, unsigned p) {
        vector(e.a, bytes == 8, to, e.lanes(from[0], p, Emitter::scratch(0)));
      });
}
void negate(Emitter& e, const Site& s) {
  one(
      e, s, [](Asm& a, G x) { a.neg(x); },
      [](Asm& a, bool wide, Z to, Z x) {
        const Z zero = Emitter::scratch(1);
        a.vpxorq(zero, zero, zero);
        wide ? a.vpsubq(to, zero, x) : a.vpsubd(to, zero, x);
      });
}
void complement(Emitter& e, const Site& s) {
  one(
      e, s, [](Asm& a, G x) { a.not_(x); },
      [](Asm& a, bool, Z to, Z x) {
        const Z ones = Emitter::scratch(1);
        a.vpternlogd(ones, ones, ones, 0xff);
        a.vpxorq(to, x, ones);
      });
}

// --- mad.lo ---

bool takes_low(const Site& s) {
  return s.has_only({Mod::lo}) && is_integer(s) &&
         all_are(s, bytes_of(s), s.in.opcode == Opcode::mad ? 3 : 2);
}
void multiply_add(Emitter& e, const Site& s) {
  const unsigned bytes = bytes_of(s);
  const Value from[] = {e.value(s.op.a, s.operand(1), bytes), e.value(s.op.b, s.operand(2), bytes),
                        e.value(s.op.c, s.operand(3), bytes)};
  pointwise(
      e, s.operand(0).index, from,
      [&](int h) {
        e.scalar(from[0], h, X::rax);
        e.scalar(from[1], h, X::rcx);
        e.scalar(from[2], h, X::rdx);
        e.a.imul(sized(X::rax, bytes), sized(X::rcx, bytes));
        e.a.add(sized(X::rax, bytes), sized(X::rdx, bytes));
      },
      [&](const X::Zmm& to, unsigned p) {
        const Z x = e.lanes(from[0], p, Emitter::scratch(0)),
                y = e.lanes(from[1], p, Emitter::scratch(1)), product = Emitter::scratch(0);
        bytes == 8 ? e.a.vpmullq(product, x, y) : e.a.vpmulld(product, x, y);
        const Z z = e.lanes(from[2], p, Emitter::scratch(1));
        bytes == 8 ? e.a.vpaddq(to, product, z) : e.a.vpaddd(to, product, z);
      });
}

// --- 32 bits to 64: products, and conversions ---

bool takes_wide(const Site& s) {
  const bool adds = s.in.opcode == Opcode::mad;
  return s.has_only({Mod::wide}) && is_word(s.type()) && s.operand_count() == (adds ? 4u : 3u) &&
         is_result(s, s.op.d, s.operand(0), 8) && is_value(s, s.op.a, s.operand(1), 4) &&
         is_value(s, s.op.b, s.operand(2), 4) && (!adds || is_value(s, s.op.c, s.operand(3), 8));
}

void extend(Emitter& e, const G& reg, bool sign) {
  if (sign)
    e.a.movsxd(reg.r64(), reg.r32());
  else
    e.a.mov(reg.r32(), reg.r32());
}

// Leaves if a lane's value is not what its base, extended, and its steps give.
void check_widening(Emitter& e, const Site& s, const Value& v, int halves, bool sign) {
  if (!v.is_scalar() || v.shape.stride == 0) return;
  const asmjit::Label out = e.leave(s);
  for (int h = 0; h < halves; ++h) {
    e.scalar(v, h, X::rax);
    extend(e, X::rax, sign);
    e.add_constant(X::rax, v.shape.stride * (halves == 2 ? 15 : 31));
    e.a.mov(X::rcx, X::rax);
    extend(e, X::rcx, sign);
    e.a.cmp(X::rax, X::rcx);
    e.a.jne(out);
  }
}

// Part p of 64-bit lanes, from 32-bit ones.
Z extended(Emitter& e, const Value& v, unsigned p, const Z& scratch, bool sign) {
  const Z words = e.lanes(v, p / 2, scratch);
  if (p % 2 == 0) {
    sign ? e.a.vpmovsxdq(scratch, words.ymm()) : e.a.vpmovzxdq(scratch, words.ymm());
  } else {
    e.a.vextracti64x4(scratch.ymm(), words, 1);
    sign ? e.a.vpmovsxdq(scratch, scratch.ymm()) : e.a.vpmovzxdq(scratch, scratch.ymm());
  }
  return scratch;
}

void multiply_wide(Emitter& e, const Site& s) {
  const bool sign = ptx::is_signed(s.type()), adds = s.in.opcode == Opcode::mad;
  const std::uint32_t to = s.operand(0).index;
  const Value x = e.value(s.op.a, s.operand(1), 4), y = e.value(s.op.b, s.operand(2), 4);
  const Value z = adds ? e.value(s.op.c, s.operand(3), 8) : Value{};
  if (e.places.in_home(to)) {
    const int halves = halves_of(e, to);
    check_widening(e, s, x, halves, sign);
    check_widening(e, s, y, halves, sign);
    for (int h = 0; h < halves; ++h) {
      e.scalar(x, h, X::rax);
      extend(e, X::rax, sign);
      e.scalar(y, h, X::rcx);
      extend(e, X::rcx, sign);
      e.a.imul(X::rax, X::rcx);
      if (adds) {
        e.scalar(z, h, X::rcx);
        e.a.add(X::rax, X::rcx);
      }
      e.set_home(to, h, X::rax);
    }
    return;
  }
  for (const Value& v : {x, y, z}) e.prepare(v);
  for (const Value& v : {x, y, z}) e.settle(v);
  const auto all = e.result(to);
  for (unsigned p = 0; p < 4; ++p) {
    const Z l = extended(e, x, p, Emitter::scratch(0), sign),
            m = extended(e, y, p, Emitter::scratch(1), sign);
    sign ? e.a.vpmuldq(l, l, m) : e.a.vpmuludq(l, l, m);
    if (adds)
      e.a.vpaddq(all[p], l, e.lanes(z, p, Emitter::scratch(1)));
    else
      e.a.vmovaps(all[p], l);
  }
}

bool takes_widening(const Site& s) {
  return s.plain() && s.operand_count() == 2 && is_long(s.type(0)) && is_word(s.type(1)) &&
         is_result(s, s.op.d, s.operand(0), 8) && is_value(s, s.op.a, s.operand(1), 4);
}
void widen(Emitter& e, const Site& s) {
  const bool sign = ptx::is_signed(s.type(1));
  const std::uint32_t to = s.operand(0).index;
  const Value x = e.value(s.op.a, s.operand(1), 4);
  if (e.places.in_home(to)) {
    const int halves = halves_of(e, to);
    check_widening(e, s, x, halves, sign);
    for (int h = 0; h < halves; ++h) {
      e.scalar(x, h, X::rax);
      extend(e, X::rax, sign);
      e.set_home(to, h, X::rax);
    }
    return;
  }
  e.prepare(x);
  e.settle(x);
  const auto all = e.result(to);
  for (unsigned p = 0; p < 4; ++p)
    e.a.vmovaps(all[p], extended(e, x, p, Emitter::scratch(0), sign));
}

bool takes_narrowing(const Site& s) {
  return s.plain() && s.operand_count() == 2 && is_word(s.type(0)) && is_long(s.type(1)) &&
         is_result(s, s.op.d, s.operand(0), 4) && is_value(s, s.op.a, s.operand(1), 8);
}
void narrow(Emitter& e, const Site& s) {
  const Value from[] = {e.value(s.op.a, s.operand(1), 8)};
  pointwise(
      e, s.operand(0).index, from, [&](int h) { e.scalar(from[0], h, X::rax); },
      [&](const X::Zmm& to, unsigned p) {
        const Z low = Emitter::scratch(1), high = Emitter::scratch(2);
        e.a.vpmovqd(low.ymm(), e.lanes(from[0], 2 * p, Emitter::scratch(0)));
        e.a.vpmovqd(high.ymm(), e.lanes(from[0], 2 * p + 1, Emitter::scratch(0)));
        e.a.vinserti64x4(to, low, high.ymm(), 1);
      });
}

// --- shifts ---

bool takes_shift(const Site& s) {
  if (!s.plain() || !is_integer(s) || s.operand_count() != 3) return false;
  const bool constant = static_cast<Base>(s.op.b & 3) == Base::constants;
  return is_result(s, s.op.d, s.operand(0), bytes_of(s)) &&
         is_value(s, s.op.a, s.operand(1), bytes_of(s)) && is_value(s, s.op.b, s.operand(2), 4) &&
         (bytes_of(s) == 4 || constant);
}
// An amount above the width acts as the width.
void shift(Emitter& e, const Site& s) {
  const unsigned bytes = bytes_of(s), width = 8 * bytes;
  const bool left = s.in.opcode == Opcode::shl, sign = !left && ptx::is_signed(s.type());
  const Value from[] = {e.value(s.op.a, s.operand(1), bytes), e.value(s.op.b, s.operand(2), 4)};
  const bool constant = from[1].of == Value::Of::constant;
  const auto by = static_cast<unsigned>(std::min<std::uint64_t>(from[1].bits, width));
  const G x = sized(X::rax, bytes);
  pointwise(
      e, s.operand(0).index, from,
      [&](int h) {
        e.scalar(from[0], h, X::rax);
        if (constant) {
          if (sign)
            e.a.sar(x, std::min(by, width - 1));
          else if (by == width)
            e.a.xor_(X::eax, X::eax);
          else
            left ? e.a.shl(x, by) : e.a.shr(x, by);
          return;
        }
        e.scalar(from[1], h, X::rcx);
        e.a.mov(X::edx, sign ? width - 1 : 0);
        e.a.cmp(X::ecx, width - 1);
        if (sign) {
          e.a.cmova(X::ecx, X::edx);
          e.a.sar(x, X::cl);
          return;
        }
        e.a.cmova(X::eax, X::edx);
        left ? e.a.shl(x, X::cl) : e.a.shr(x, X::cl);
      },
      [&](const X::Zmm& to, unsigned p) {
        const Z v = e.lanes(from[0], p, Emitter::scratch(0));
        if (bytes == 8) {
          left ? e.a.vpsllq(to, v, by) : sign ? e.a.vpsraq(to, v, by) : e.a.vpsrlq(to, v, by);
        } else if (constant) {
          left ? e.a.vpslld(to, v, by) : sign ? e.a.vpsrad(to, v, by) : e.a.vpsrld(to, v, by);
        } else {
          const Z n = e.lanes(from[1], p, Emitter::scratch(1));
          left ? e.a.vpsllvd(to, v, n) : sign ? e.a.vpsravd(to, v, n) : e.a.vpsrlvd(to, v, n);
        }
      });
}

constexpr Form forms[] = {
    {Opcode::add, takes_two, add},          {Opcode::sub, takes_two, sub},
    {Opcode::mul, takes_low, multiply},     {Opcode::mul, takes_wide, multiply_wide},
    {Opcode::mad, takes_low, multiply_add}, {Opcode::mad, takes_wide, multiply_wide},
    {Opcode::min, takes_two, least},        {Opcode::max, takes_two, greatest},
    {Opcode::neg, takes_one, negate},       {Opcode::not_, takes_one, complement},
    {Opcode::and_, takes_two, bit_and},     {Opcode::or_, takes_two, bit_or},
    {Opcode::xor_, takes_two, bit_xor},     {Opcode::shl, takes_shift, shift},
    {Opcode::shr, takes_shift, shift},      {Opcode::cvt, takes_widening, widen},
    {Opcode::cvt, takes_narrowing, narrow},
};

}  // namespace

std::span<const Form> integer_forms() { return forms; }

}  // namespace inflight::machine::compile
