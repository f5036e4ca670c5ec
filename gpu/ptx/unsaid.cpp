// What an instruction of older PTX leaves unsaid: its precision, and that a GPU before sm_20
// flushes subnormal numbers (PTX ISA 9.7.3 and 11.1.6; tests/kernels/ptx_of_old asked an H200).
#include <fmt/format.h>

#include "gpu/ptx/parser.hpp"

namespace inflight::ptx {

namespace {

// Versions of PTX, as major * 10 + minor.
constexpr int kFirst = 10, kPrecisionSaid = 14, kRoundedMad = 32, kAlways = 0;

// An instruction whose text gives its precision, and what stands for none before version `said`.
struct Precise {
  Opcode opcode;
  Type type;
  Mod unsaid;
  int said;
};
constexpr Precise kPrecise[] = {
    {Opcode::mad, Type::f32, Mod::rn, kRoundedMad},
    {Opcode::mad, Type::f64, Mod::rn, kPrecisionSaid},
    {Opcode::fma, Type::f32, Mod::rn, kAlways},
    {Opcode::fma, Type::f64, Mod::rn, kAlways},
    {Opcode::div, Type::f32, Mod::approx, kPrecisionSaid},
    {Opcode::div, Type::f64, Mod::rn, kPrecisionSaid},
    {Opcode::rcp, Type::f32, Mod::approx, kPrecisionSaid},
    {Opcode::rcp, Type::f64, Mod::rn, kPrecisionSaid},
    {Opcode::sqrt, Type::f32, Mod::approx, kPrecisionSaid},
    {Opcode::sqrt, Type::f64, Mod::rn, kPrecisionSaid},
    {Opcode::rsqrt, Type::f32, Mod::approx, kPrecisionSaid},
    {Opcode::rsqrt, Type::f64, Mod::approx, kPrecisionSaid},
    {Opcode::sin, Type::f32, Mod::approx, kPrecisionSaid},
    {Opcode::cos, Type::f32, Mod::approx, kPrecisionSaid},
    {Opcode::lg2, Type::f32, Mod::approx, kPrecisionSaid},
    {Opcode::ex2, Type::f32, Mod::approx, kPrecisionSaid},
};
constexpr Mod kPrecisions[] = {Mod::rn, Mod::rz, Mod::rm, Mod::rp, Mod::approx, Mod::full};

bool says_precision(const Instruction& in) {
  for (Mod m : kPrecisions)
    if (in.mods.has(m)) return true;
  return false;
}

const Precise* precise(const Instruction& in) {
  for (const Precise& p : kPrecise)
    if (p.opcode == in.opcode && p.type == in.types[0]) return &p;
  return nullptr;
}

// Does it read floating-point numbers, some of 32 bits? Its last type is the source's.
bool flushes(const Instruction& in) {
  const unsigned n = in.type_count;
  if (!n || !is_float(in.types[n - 1]) || !rule(in.opcode).mods.has(Mod::ftz)) return false;
  return in.types[0] == Type::f32 || in.types[n - 1] == Type::f32;
}

}  // namespace

bool Parser::complete(Instruction& in) {
  if (module_.target_number && module_.target_number < 20 && flushes(in)) in.mods.insert(Mod::ftz);
  if (!in.type_count || !is_float(in.types[0])) return true;
  const Precise* p = precise(in);
  if (!p || says_precision(in)) return true;
  const int version = module_.version_major * 10 + module_.version_minor;
  if (version >= kFirst && version < p->said) {
    in.mods.insert(p->unsaid);
    return true;
  }
  return lex_.fail_at(in.name.data(), fmt::format("`{}` says no precision: a rounding such as "
                                                  "`.rn`, or `.approx`",
                                                  in.name));
}

}  // namespace inflight::ptx
