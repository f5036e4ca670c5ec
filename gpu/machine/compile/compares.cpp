// setp, selp, and logic of predicates. A predicate is a word in the frame, a bit a lane.
#include <optional>

#include "gpu/machine/compile/emit.hpp"

namespace inflight::machine::compile {
namespace {

using ptx::Mod;
using ptx::ModSet;
using ptx::Opcode;
using ptx::Type;
using Z = X::Zmm;

// How the comparison combines with another predicate.
constexpr ModSet booleans{Mod::and_, Mod::or_, Mod::xor_};

struct Question {
  int integer = -1;  // the immediate of vpcmp
  int real = -1;     // and of vcmp: none signals
};
std::optional<Question> question_of(const Site& s) {
  constexpr struct {
    Mod mod;
    Question is;
  } all[] = {{Mod::eq, {0, 0x00}},   {Mod::ne, {4, 0x0c}},   {Mod::lt, {1, 0x11}},
             {Mod::le, {2, 0x12}},   {Mod::gt, {6, 0x1e}},   {Mod::ge, {5, 0x1d}},
             {Mod::lo, {1, -1}},     {Mod::ls, {2, -1}},     {Mod::hi, {6, -1}},
             {Mod::hs, {5, -1}},     {Mod::equ, {-1, 0x08}}, {Mod::neu, {-1, 0x04}},
             {Mod::ltu, {-1, 0x19}}, {Mod::leu, {-1, 0x1a}}, {Mod::gtu, {-1, 0x16}},
             {Mod::geu, {-1, 0x15}}, {Mod::num, {-1, 0x07}}, {Mod::nan, {-1, 0x03}}};
  const ModSet mods = s.in.text->mods.without(booleans);
  for (const auto& [mod, is] : all)
    if (mods == ModSet{mod}) return is;
  return std::nullopt;
}

bool is_real(Type t) { return t == Type::f32 || t == Type::f64; }

bool takes_compare(const Site& s) {
  const Type type = s.type();
  const auto question = question_of(s);
  if (!question || s.in.text->type_count != 1) return false;
  if (is_real(type) ? question->real < 0
                    : question->integer < 0 || (!is_word(type) && !is_long(type)))
    return false;
  const bool combines = s.in.text->mods.without(booleans) != s.in.text->mods;
  const unsigned bytes = ptx::size_of(type);
  return s.operand_count() == (combines ? 4u : 3u) && is_predicate(s, s.op.d, s.operand(0)) &&
         is_value(s, s.op.a, s.operand(1), bytes) && is_value(s, s.op.b, s.operand(2), bytes) &&
         (!combines || is_predicate(s, s.op.c, s.operand(3)));
}

// The result in eax, of operands of which all lanes have the same.
void compare_scalars(Emitter& e, const Site& s, const Value& x, const Value& y, int how) {
  e.scalar(x, 0, X::rax);
  e.scalar(y, 0, X::rcx);
  e.a.cmp(sized(X::rax, x.bytes), sized(X::rcx, x.bytes));
  const bool sign = ptx::is_signed(s.type());
  switch (how) {
    case 0:
      e.a.sete(X::al);
      break;
    case 1:
      sign ? e.a.setl(X::al) : e.a.setb(X::al);
      break;
    case 2:
      sign ? e.a.setle(X::al) : e.a.setbe(X::al);
      break;
    case 4:
      e.a.setne(X::al);
      break;
    case 5:
      sign ? e.a.setge(X::al) : e.a.setae(X::al);
      break;
    default:
      sign ? e.a.setg(X::al) : e.a.seta(X::al);
  }
  e.a.movzx(X::eax, X::al);
  e.a.neg(X::eax);
}

// The result in k1.
void compare_lanes(Emitter& e, const Site& s, const Value& x, const Value& y, Question how) {
  const Type type = s.type();
  const bool sign = ptx::is_signed(type) || how.integer == 0 || how.integer == 4;
  const X::KReg to[] = {X::k1, X::k2, X::k3, X::k4};
  for (unsigned p = 0; p < Emitter::parts_of(x.bytes); ++p) {
    const Z l = e.lanes(x, p, Emitter::scratch(0)), m = e.lanes(y, p, Emitter::scratch(1));
    if (type == Type::f32)
      e.a.vcmpps(to[p], l, m, how.real);
    else if (type == Type::f64)
      e.a.vcmppd(to[p], l, m, how.real);
    else if (x.bytes == 8)
      sign ? e.a.vpcmpq(to[p], l, m, how.integer) : e.a.vpcmpuq(to[p], l, m, how.integer);
    else
      sign ? e.a.vpcmpd(to[p], l, m, how.integer) : e.a.vpcmpud(to[p], l, m, how.integer);
  }
  if (x.bytes == 8) {
    e.a.kunpckbw(X::k1, X::k2, X::k1);
    e.a.kunpckbw(X::k2, X::k4, X::k3);
  }
  e.a.kunpckwd(X::k1, X::k2, X::k1);
}

void load_predicate(Emitter& e, const X::Gp& to, Ref ref, bool negated) {
  e.a.mov(to, X::dword_ptr(e.frame, static_cast<std::int32_t>(ref & ~3u)));
  if (negated) e.a.not_(to);
}

void compare(Emitter& e, const Site& s) {
  const unsigned bytes = ptx::size_of(s.type());
  const Question how = *question_of(s);
  const Value x = e.value(s.op.a, s.operand(1), bytes), y = e.value(s.op.b, s.operand(2), bytes);
  const bool real = is_real(s.type());
  if (!real && x.shape.is_uniform() && y.shape.is_uniform()) {
    compare_scalars(e, s, x, y, how.integer);
  } else {
    e.prepare(x), e.prepare(y);
    if (!real) e.settle(x), e.settle(y);
    compare_lanes(e, s, x, y, how);
    e.a.kmovd(X::eax, X::k1);
  }
  const ModSet& mods = s.in.text->mods;
  if (mods.without(booleans) != mods) {
    load_predicate(e, X::ecx, s.op.c, s.op.flags & Op::negate_c);
    if (mods.has(Mod::and_))
      e.a.and_(X::eax, X::ecx);
    else if (mods.has(Mod::or_))
      e.a.or_(X::eax, X::ecx);
    else
      e.a.xor_(X::eax, X::ecx);
  }
  e.set_predicate(s.operand(0).index);
}

// --- logic ---

bool takes_logic(const Site& s) {
  const bool one = s.in.opcode == Opcode::not_ || s.in.opcode == Opcode::mov;
  return s.plain() && s.type() == Type::pred && s.operand_count() == (one ? 2u : 3u) &&
         is_predicate(s, s.op.d, s.operand(0)) && is_predicate(s, s.op.a, s.operand(1)) &&
         (one || is_predicate(s, s.op.b, s.operand(2)));
}
void logic(Emitter& e, const Site& s) {
  load_predicate(e, X::eax, s.op.a, s.op.flags & Op::negate_a);
  switch (s.in.opcode) {
    case Opcode::not_:
      e.a.not_(X::eax);
      break;
    case Opcode::mov:
      break;
    default:
      load_predicate(e, X::ecx, s.op.b, s.op.flags & Op::negate_b);
      if (s.in.opcode == Opcode::and_)
        e.a.and_(X::eax, X::ecx);
      else if (s.in.opcode == Opcode::or_)
        e.a.or_(X::eax, X::ecx);
      else
        e.a.xor_(X::eax, X::ecx);
  }
  e.set_predicate(s.operand(0).index);
}

// --- selection ---

bool takes_select(const Site& s) {
  const unsigned bytes = ptx::size_of(s.type());
  return s.plain() && (bytes == 4 || bytes == 8) && s.operand_count() == 4 &&
         is_result(s, s.op.d, s.operand(0), bytes) && is_value(s, s.op.a, s.operand(1), bytes) &&
         is_value(s, s.op.b, s.operand(2), bytes) && is_predicate(s, s.op.c, s.operand(3));
}
void select(Emitter& e, const Site& s) {
  const unsigned bytes = ptx::size_of(s.type());
  const bool turned = s.op.flags & Op::negate_c;
  Value from[] = {e.value(s.op.a, s.operand(1), bytes), e.value(s.op.b, s.operand(2), bytes)};
  if (turned) std::swap(from[0], from[1]);
  const auto at = static_cast<std::int32_t>(s.op.c & ~3u);
  pointwise(
      e, s.operand(0).index, from,
      [&](int h) {
        e.scalar(from[0], h, X::rcx);
        e.scalar(from[1], h, X::rax);
        e.a.test(X::dword_ptr(e.frame, at), std::int32_t{1} << 16 * h);
        e.a.cmovnz(sized(X::rax, bytes), sized(X::rcx, bytes));
      },
      [&](const X::Zmm& to, unsigned p) {
        const Z x = e.lanes(from[0], p, Emitter::scratch(0)),
                y = e.lanes(from[1], p, Emitter::scratch(1));
        if (bytes == 8) {
          e.a.kmovb(X::k1, X::byte_ptr(e.frame, at + static_cast<int>(p)));
          e.a.k(X::k1).vpblendmq(to, y, x);
        } else {
          e.a.kmovw(X::k1, X::word_ptr(e.frame, at + 2 * static_cast<int>(p)));
          e.a.k(X::k1).vpblendmd(to, y, x);
        }
      });
}

constexpr Form forms[] = {
    {Opcode::setp, takes_compare, compare}, {Opcode::and_, takes_logic, logic},
    {Opcode::or_, takes_logic, logic},      {Opcode::xor_, takes_logic, logic},
    {Opcode::not_, takes_logic, logic},     {Opcode::mov, takes_logic, logic},
    {Opcode::selp, takes_select, select},
};

}  // namespace

std::span<const Form> compare_forms() { return forms; }

}  // namespace inflight::machine::compile
