// The table of facts, indexed by opcode.
#include "gpu/machine/instruction/facts.hpp"

#include <array>

namespace inflight::machine {
namespace {

// A row that lacks a column does not compile.
constexpr Facts table[] = {
#define OPCODE(name, text, family, written, control, memory) \
  {Family::family, Destination::written, Control::control, MemoryRole::memory},
#include "gpu/ptx/opcodes.def"
#undef OPCODE
};
static_assert(std::size(table) == static_cast<std::size_t>(ptx::Opcode::count_));

constexpr std::string_view names[] = {
#define X(name, text) text,
    INFLIGHT_FAMILIES_OF_INSTRUCTIONS(X)
#undef X
};

}  // namespace

std::span<const std::string_view> family_names() { return names; }

const Facts& facts(ptx::Opcode opcode) { return table[static_cast<std::size_t>(opcode)]; }

}  // namespace inflight::machine
