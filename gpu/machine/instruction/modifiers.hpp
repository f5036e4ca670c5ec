// The meaning of modifiers and constant operands.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gpu/ptx/module.hpp"

namespace inflight::machine {

template <class T>
struct Means {
  ptx::Mod mod;
  T what;
};
// The meaning of the first modifier of `table` that is in `mods`; nothing if none is.
template <class T, std::size_t n>
std::optional<T> meaning(const ptx::ModSet& mods, const Means<T> (&table)[n]) {
  for (const auto& [mod, what] : table)
    if (mods.has(mod)) return what;
  return {};
}

// The value of an operand; nothing if it is missing or not an integer constant.
inline std::optional<std::int64_t> constant(const ptx::Function& function,
                                            const ptx::Instruction& in, std::size_t operand) {
  const auto operands = function.operands(in);
  if (operand >= operands.size() || operands[operand].kind != ptx::Operand::Kind::integer)
    return {};
  return operands[operand].value;
}

}  // namespace inflight::machine
