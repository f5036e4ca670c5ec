// mov and cvta.
#include "gpu/machine/compile/emit.hpp"

namespace inflight::machine::compile {
namespace {

using ptx::Opcode;

// d = a + constant.
void copy(Emitter& e, const Site& s, std::int64_t more) {
  const unsigned bytes = ptx::size_of(s.type());
  const Value from[] = {e.value(s.op.a, s.operand(1), bytes)};
  pointwise(
      e, s.operand(0).index, from,
      [&](int h) {
        e.scalar(from[0], h, X::rax);
        e.add_constant(sized(X::rax, bytes), more);
      },
      [&](const X::Zmm& to, unsigned p) {
        const X::Zmm x = e.lanes(from[0], p, Emitter::scratch(0));
        if (more == 0) {
          if (to.id() != x.id()) e.a.vmovaps(to, x);
          return;
        }
        e.a.mov(X::rax, more);
        e.broadcast(Emitter::scratch(1), X::rax, bytes);
        bytes == 8 ? e.a.vpaddq(to, x, Emitter::scratch(1))
                   : e.a.vpaddd(to, x, Emitter::scratch(1));
      });
}

bool takes_move(const Site& s) {
  const unsigned bytes = ptx::size_of(s.type());
  return s.plain() && s.type() != ptx::Type::pred && (bytes == 4 || bytes == 8) &&
         !s.in.follows_multiplies && all_are(s, bytes, 1);
}
void move(Emitter& e, const Site& s) { copy(e, s, 0); }

bool takes_cvta(const Site& s) {
  const unsigned bytes = ptx::size_of(s.type());
  return (bytes == 4 || bytes == 8) && all_are(s, bytes, 1);
}
void cvta(Emitter& e, const Site& s) { copy(e, s, s.op.imm); }

constexpr Form forms[] = {
    {Opcode::mov, takes_move, move},
    {Opcode::cvta, takes_cvta, cvta},
};

}  // namespace

std::span<const Form> move_forms() { return forms; }

}  // namespace inflight::machine::compile
