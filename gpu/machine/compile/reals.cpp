// Sums, products and fused multiply-adds of f32 and f64, rounded to nearest; signs.
//
// Any f32 result that is a NaN is the canonical one. What computes with it does not see its bits,
// so it becomes canonical only where it is stored, or used as an integer. An f64 NaN depends on the
// operands: their handler computes them again.
#include "gpu/machine/compile/emit.hpp"

namespace inflight::machine::compile {
namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::Type;
using Z = X::Zmm;

struct Operands {
  const ptx::Operand* of[3] = {};
  unsigned count = 0;
  bool minus_product = false, minus_addend = false;
};

Operands operands_of(const Site& s) {
  if (const auto* joined = s.in.as<Contraction>())
    return {{joined->factors[0], joined->factors[1], joined->addend},
            3,
            joined->minus_product,
            joined->minus_addend};
  Operands all;
  for (all.count = 0; all.count + 1 < s.operand_count() && all.count < 3; ++all.count)
    all.of[all.count] = &s.operand(all.count + 1);
  return all;
}

bool is_nearest(const Site& s) { return s.plain() || s.has_only({Mod::rn}); }

bool takes(const Site& s) {
  if (!is_nearest(s) || (s.type() != Type::f32 && s.type() != Type::f64)) return false;
  const unsigned bytes = ptx::size_of(s.type());
  const Operands all = operands_of(s);
  const unsigned wanted = s.in.opcode == Opcode::fma || s.in.as<Contraction>() ? 3 : 2;
  if (all.count != wanted || !is_result(s, s.op.d, s.operand(0), bytes)) return false;
  const Ref refs[] = {s.op.a, s.op.b, s.op.c};
  for (unsigned n = 0; n < all.count; ++n)
    if (!is_value(s, refs[n], *all.of[n], bytes)) return false;
  return !s.in.as<Contraction>() || s.in.text->operand_count == 3;
}

void fused(Emitter& e, const Operands& all, bool wide, Z to, Z x, Z y) {
  auto& a = e.a;
  if (all.minus_product && all.minus_addend)
    wide ? a.vfnmsub231pd(to, x, y) : a.vfnmsub231ps(to, x, y);
  else if (all.minus_product)
    wide ? a.vfnmadd231pd(to, x, y) : a.vfnmadd231ps(to, x, y);
  else if (all.minus_addend)
    wide ? a.vfmsub231pd(to, x, y) : a.vfmsub231ps(to, x, y);
  else
    wide ? a.vfmadd231pd(to, x, y) : a.vfmadd231ps(to, x, y);
}

void emit(Emitter& e, const Site& s) {
  const bool wide = s.type() == Type::f64;
  const unsigned bytes = wide ? 8 : 4;
  const Operands all = operands_of(s);
  const Ref refs[] = {s.op.a, s.op.b, s.op.c};
  Value v[3];
  for (unsigned n = 0; n < all.count; ++n) {
    v[n] = e.value(refs[n], *all.of[n], bytes);
    e.prepare(v[n]);
  }
  // Where they lie now: a fresh result has other vector registers than the same register's old
  // lanes.
  Z at[3][4];
  for (unsigned n = 0; n < all.count; ++n)
    for (unsigned p = 0; v[n].of == Value::Of::lanes && p < Emitter::parts_of(bytes); ++p)
      at[n][p] = e.lanes(v[n], p, Emitter::scratch(n));
  const auto source = [&](unsigned n, unsigned p) {
    return v[n].of == Value::Of::lanes ? at[n][p] : e.lanes(v[n], p, Emitter::scratch(n));
  };
  const std::uint32_t d = s.operand(0).index;
  // The handler's way begins behind the computation, which must not have taken a register's place.
  e.prepare_result(d);
  if (wide) e.make_room(4);
  const asmjit::Label out = wide ? e.slow(s) : asmjit::Label();
  // A result may take the addend's place, but no factor's before it is read: lanes go part by part.
  const auto to = wide ? e.fresh_result(d) : e.result(d, true);
  for (unsigned p = 0; p < Emitter::parts_of(bytes); ++p) {
    const Z x = source(0, p), y = source(1, p);
    if (all.count == 3) {
      const Z z = source(2, p);
      if (to[p].id() == z.id()) {
        fused(e, all, wide, to[p], x, y);
      } else {
        const Z sum = Emitter::scratch(2);
        if (sum.id() != z.id()) e.a.vmovaps(sum, z);
        fused(e, all, wide, sum, x, y);
        e.a.vmovaps(to[p], sum);
      }
      continue;
    }
    switch (s.in.opcode) {
      case Opcode::add:
        wide ? e.a.vaddpd(to[p], x, y) : e.a.vaddps(to[p], x, y);
        break;
      case Opcode::sub:
        wide ? e.a.vsubpd(to[p], x, y) : e.a.vsubps(to[p], x, y);
        break;
      default:
        wide ? e.a.vmulpd(to[p], x, y) : e.a.vmulps(to[p], x, y);
    }
  }
  if (!wide) return;
  e.a.vcmppd(X::k1, to[0], to[1], 3);
  e.a.vcmppd(X::k2, to[2], to[3], 3);
  e.a.kortestb(X::k1, X::k2);
  e.a.jnz(out);
}

// --- signs of f32 ---

bool takes_sign(const Site& s) { return s.plain() && s.type() == Type::f32 && all_are(s, 4, 1); }
void sign(Emitter& e, const Site& s) {
  const Value v = e.value(s.op.a, s.operand(1), 4);
  e.prepare(v);
  const auto to = e.result(s.operand(0).index, true);
  e.a.mov(X::eax, s.in.opcode == Opcode::neg ? 0x80000000u : 0x7fffffffu);
  e.a.vpbroadcastd(Emitter::scratch(1), X::eax);
  for (unsigned p = 0; p < 2; ++p) {
    const Z x = e.lanes(v, p, Emitter::scratch(0));
    if (s.in.opcode == Opcode::neg)
      e.a.vpxord(to[p], x, Emitter::scratch(1));
    else
      e.a.vpandd(to[p], x, Emitter::scratch(1));
  }
}

// --- integers to f32 ---

bool takes_conversion(const Site& s) {
  return s.has_only({Mod::rn}) && s.type(0) == Type::f32 &&
         (s.type(1) == Type::u32 || s.type(1) == Type::s32) && all_are(s, 4, 1);
}
void convert(Emitter& e, const Site& s) {
  const Value v = e.value(s.op.a, s.operand(1), 4);
  e.prepare(v);
  e.settle(v);
  const auto to = e.result(s.operand(0).index);
  for (unsigned p = 0; p < 2; ++p) {
    const Z x = e.lanes(v, p, Emitter::scratch(0));
    s.type(1) == Type::s32 ? e.a.vcvtdq2ps(to[p], x) : e.a.vcvtudq2ps(to[p], x);
  }
}

constexpr Form forms[] = {
    {Opcode::add, takes, emit},
    {Opcode::sub, takes, emit},
    {Opcode::mul, takes, emit},
    {Opcode::fma, takes, emit},
    {Opcode::neg, takes_sign, sign},
    {Opcode::abs, takes_sign, sign},
    {Opcode::cvt, takes_conversion, convert},
};

}  // namespace

std::span<const Form> real_forms() { return forms; }

}  // namespace inflight::machine::compile
