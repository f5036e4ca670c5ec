// The parts of the table of forms, and what their functions share.
#pragma once
#include <span>

#include "gpu/machine/compile/emitter.hpp"

namespace inflight::machine::compile {

std::span<const Form> integer_forms();
std::span<const Form> real_forms();
std::span<const Form> compare_forms();
std::span<const Form> move_forms();
std::span<const Form> memory_forms();

// Whether the op has its result and `sources` operands where the text says, all of so many bytes.
inline bool all_are(const Site& s, unsigned bytes, unsigned sources) {
  if (s.operand_count() != sources + 1 || !is_result(s, s.op.d, s.operand(0), bytes)) return false;
  const Ref refs[] = {s.op.a, s.op.b, s.op.c};
  for (unsigned n = 0; n < sources; ++n)
    if (!is_value(s, refs[n], s.operand(n + 1), bytes)) return false;
  return true;
}

inline bool is_word(ptx::Type t) {
  return t == ptx::Type::u32 || t == ptx::Type::s32 || t == ptx::Type::b32;
}
inline bool is_long(ptx::Type t) {
  return t == ptx::Type::u64 || t == ptx::Type::s64 || t == ptx::Type::b64;
}

// The halves whose values a home has.
inline int halves_of(const Emitter& e, std::uint32_t reg) {
  return e.places.shapes[reg].reach == Shape::Reach::half ? 2 : 1;
}

// A result that each lane computes from its own operands. `scalar(to, from, half)` works on general
// registers, `vector(to, part)` on lanes.
template <class Scalar, class Vector>
void pointwise(Emitter& e, std::uint32_t to, std::span<const Value> from, Scalar scalar,
               Vector vector) {
  if (e.places.in_home(to)) {
    for (int h = 0; h < halves_of(e, to); ++h) {
      scalar(h);
      e.set_home(to, h, X::rax);
    }
    return;
  }
  for (const Value& v : from) e.prepare(v);
  for (const Value& v : from) e.settle(v);
  const auto all = e.result(to);
  for (unsigned p = 0; p < Emitter::parts_of(e.places.width(to)); ++p) vector(all[p], p);
}

}  // namespace inflight::machine::compile
