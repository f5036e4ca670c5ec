// Helpers of irregular instructions: their rows and the check of their modifiers.
#include "gpu/machine/families/modifiers.hpp"

#include <fmt/format.h>

namespace inflight::machine {

Row any_form(ptx::Opcode opcode, bool (*lower)(Lowering&, const Row&)) {
  Row row{};
  row.opcode = opcode;
  row.lower = lower;
  return row;
}

bool only(Lowering& lo, const ptx::ModSet& understood) {
  const ptx::ModSet rest = lo.in.mods.without(understood).without(ignorable());
  if (rest.empty()) return true;
  std::string names;
  rest.for_each([&](ptx::Mod m) { names += fmt::format(" .{}", spelling(m)); });
  return lo.refuse(fmt::format("{} is not supported with{}", lo.in.name, names));
}

}  // namespace inflight::machine
