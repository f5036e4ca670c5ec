// Adds modifiers that older PTX implies: a precision, and the flush of subnormal numbers before
// sm_20 (PTX ISA 9.7.3 and 11.1.6; measured on an H200 by tests/kernels/ptx_of_old).
#include <algorithm>

#include "gpu/ptx/assembled.hpp"
#include "gpu/ptx/parser.hpp"

namespace inflight::ptx {

namespace {

// Instructions that must name their precision. Before PTX 3.2 `mad.f32` had none, and drivers treat
// it as `fma.rn.f32`.
constexpr Opcode kPrecise[] = {Opcode::mad,   Opcode::fma, Opcode::div, Opcode::rcp, Opcode::sqrt,
                               Opcode::rsqrt, Opcode::sin, Opcode::cos, Opcode::lg2, Opcode::ex2};
constexpr int kRoundedMad = 32;  // major * 10 + minor
constexpr Mod kPrecisions[] = {Mod::rn, Mod::rz, Mod::rm, Mod::rp, Mod::approx, Mod::full};

bool says_precision(const Instruction& in) {
  for (Mod m : kPrecisions)
    if (in.mods.has(m)) return true;
  return false;
}

bool is_precise(const Instruction& in) {
  return in.type_count && (in.types[0] == Type::f32 || in.types[0] == Type::f64) &&
         std::find(std::begin(kPrecise), std::end(kPrecise), in.opcode) != std::end(kPrecise);
}

// Does it read floating-point numbers and is its result or source f32? The last type is the
// source's.
bool flushes(const Instruction& in) {
  const unsigned n = in.type_count;
  if (!n || !is_float(in.types[n - 1]) || !rule(in.opcode).mods.has(Mod::ftz)) return false;
  return in.types[0] == Type::f32 || in.types[n - 1] == Type::f32;
}

}  // namespace

bool Parser::complete(Instruction& in) {
  if (module_.target_number && module_.target_number < 20 && flushes(in)) in.mods.insert(Mod::ftz);
  if (!is_precise(in) || says_precision(in)) return true;
  if (in.opcode == Opcode::mad && in.types[0] == Type::f32 && version_number() < kRoundedMad) {
    in.mods.insert(Mod::rn);
    return true;
  }
  return lex_.fail_at(in.name.data(), precision_mistake(in.name));
}

}  // namespace inflight::ptx
