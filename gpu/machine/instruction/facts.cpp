// Facts of families, and the check that the columns of the table of opcodes agree.
#include "gpu/machine/instruction/facts.hpp"

namespace inflight::machine {
namespace {

constexpr std::string_view names[] = {
#define X(name, text, mistake) text,
    INFLIGHT_FAMILIES_OF_INSTRUCTIONS(X)
#undef X
};

constexpr check::Fault::Kind mistakes[] = {
#define X(name, text, mistake) check::Fault::Kind::mistake,
    INFLIGHT_FAMILIES_OF_INSTRUCTIONS(X)
#undef X
};

// Columns that say the same of an opcode agree.
constexpr bool agrees(const Facts& row) {
  const bool goes_on = row.control == Control::next || row.control == Control::meet;
  switch (row.effect) {
    case Effect::moves:
    case Effect::keeps:
    case Effect::computes:
      return goes_on && row.written == Destination::first &&
             (row.memory == MemoryRole::none || row.memory == MemoryRole::advice);
    case Effect::accesses:
      return goes_on && row.memory != MemoryRole::none;
    case Effect::other:
      return true;
  }
  return false;
}
constexpr bool all_agree() {
  for (const Facts& row : all_facts)
    if (!agrees(row)) return false;
  return true;
}
static_assert(all_agree());

}  // namespace

std::span<const std::string_view> family_names() { return names; }

check::Fault::Kind mistake_of(Family family) { return mistakes[static_cast<std::size_t>(family)]; }

}  // namespace inflight::machine
