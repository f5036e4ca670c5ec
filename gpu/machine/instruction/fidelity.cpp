// Looks instructions up in fidelity.def.
#include "gpu/machine/instruction/fidelity.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace inflight::machine {
namespace {

using check::Fidelity;
using ptx::Mod;

constexpr int measured = 90;  // the architecture that tests/gpu compares against

bool always(const ptx::Instruction&, int) { return true; }
bool gradients(const ptx::Instruction& in, int) { return in.mods.has(Mod::grad); }
bool volumes(const ptx::Instruction& in, int) { return in.mods.has(Mod::_3d); }
bool elsewhere(const ptx::Instruction&, int architecture) { return architecture != measured; }
bool approximate_elsewhere(const ptx::Instruction& in, int architecture) {
  return architecture != measured && (in.mods.has(Mod::approx) || in.mods.has(Mod::full));
}
// Products of integers are exact everywhere.
bool floats_elsewhere(const ptx::Instruction& in, int architecture) {
  const auto integer = [](ptx::Type type) {
    using enum ptx::Type;
    return type == s32 || type == s8 || type == u8 || type == s4 || type == u4 || type == b1;
  };
  const bool integers = in.type_count != 0 &&
                        std::all_of(in.types.begin(), in.types.begin() + in.type_count, integer);
  return architecture != measured && !integers;
}

struct Rule {
  ptx::Opcode opcode;
  bool (*holds)(const ptx::Instruction&, int architecture);
  Fidelity fidelity;
};
constexpr Rule rules[] = {
#define FIDELITY(opcode, when, kind, reason) \
  {ptx::Opcode::opcode, &when, {Fidelity::Kind::kind, reason}},
#include "gpu/machine/instruction/fidelity.def"
#undef FIDELITY
};

struct OwnSpecial {
  ptx::Special special;
  std::string_view reason;
};
constexpr std::string_view clocks = "clocks count instructions",
                           places = "where a thread runs is specific to this device";
constexpr OwnSpecial own_specials[] = {
    {ptx::Special::clock, clocks},          {ptx::Special::clock_hi, clocks},
    {ptx::Special::clock64, clocks},        {ptx::Special::globaltimer, clocks},
    {ptx::Special::globaltimer_lo, clocks}, {ptx::Special::globaltimer_hi, clocks},
    {ptx::Special::smid, places},           {ptx::Special::warpid, places},
    {ptx::Special::gridid, places},
};

}  // namespace

Fidelity fidelity_of(const ptx::Function& function, const ptx::Instruction& in, int architecture) {
  const auto* const rule = std::ranges::find_if(rules, [&](const Rule& each) {
    return each.opcode == in.opcode && each.holds(in, architecture);
  });
  if (rule != std::end(rules)) return rule->fidelity;
  for (std::uint32_t i = 0; i < in.operand_count; ++i) {
    const ptx::Operand& operand = function.pool[in.operands + i];
    if (operand.kind != ptx::Operand::Kind::special) continue;
    const auto* const own = std::ranges::find_if(own_specials, [&](const OwnSpecial& each) {
      return std::uint32_t(each.special) == operand.index;
    });
    if (own != std::end(own_specials)) return {Fidelity::Kind::own, own->reason};
  }
  return {};
}

}  // namespace inflight::machine
