// Looks up rows of all families, for the host's instruction set.
#include "gpu/machine/decode/table.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>

#include "gpu/host/instruction_set.hpp"
#include "gpu/machine/families/families.hpp"
#include "gpu/machine/lowering/row.hpp"

namespace inflight::machine {
namespace {

using ptx::Type;

using Isa = host::InstructionSet;

// FNV-1a over the fields that identify a row.
std::uint64_t key(ptx::Opcode opcode, const std::array<Type, 3>& types, const ptx::ModSet& mods) {
  std::uint64_t h = 0xcbf29ce484222325;
  auto mix = [&](std::uint64_t v) { h = (h ^ v) * 0x100000001b3; };
  mix(static_cast<unsigned>(opcode));
  for (Type t : types) mix(static_cast<unsigned>(t) + 1);
  // Whole words: to visit the modifiers one by one takes most of the time to make the table.
  for (const std::uint64_t word : std::bit_cast<std::array<std::uint64_t, sizeof mods / 8>>(mods))
    mix(word);
  return h;
}

class Table {
 public:
  Table() {
    const Rows all = all_rows();
    rows_.reserve(all.size());
    for (const Row& row : all) rows_.emplace(key(row.opcode, row.types, row.mods), row);
  }

  const Row* find(const ptx::Instruction& in) const {
    const std::array<Type, 3> types{in.types[0], in.types[1], in.types[2]};
    const ptx::ModSet mods = in.mods.without(ignorable());
    if (in.type_count <= 3)
      if (const Row* row = find(in.opcode, types, mods)) return row;
    return find(in.opcode, {}, {});
  }

 private:
  const Row* find(ptx::Opcode opcode, const std::array<Type, 3>& types,
                  const ptx::ModSet& mods) const {
    const auto [first, last] = rows_.equal_range(key(opcode, types, mods));
    for (auto it = first; it != last; ++it) {
      const Row& row = it->second;
      if (row.opcode == opcode && row.types == types && row.mods == mods) return &row;
    }
    return nullptr;
  }
  std::unordered_multimap<std::uint64_t, Row> rows_;
};

}  // namespace

Rows all_rows() {
  Rows all;
#define FAMILY(name) name##_rows(all);
  switch (host::instruction_set()) {
    case Isa::avx512:
#ifdef INFLIGHT_HAS_AVX512
    {
      using namespace isa_avx512;
      INFLIGHT_LANE_FAMILIES(FAMILY)
    } break;
#endif
    case Isa::avx2:
#ifdef INFLIGHT_HAS_AVX2
    {
      using namespace isa_avx2;
      INFLIGHT_LANE_FAMILIES(FAMILY)
    } break;
#endif
    case Isa::baseline:
#ifdef INFLIGHT_HAS_BASELINE
    {
      using namespace isa_baseline;
      INFLIGHT_LANE_FAMILIES(FAMILY)
    }
#endif
    break;
  }
  INFLIGHT_FAMILIES(FAMILY)
#undef FAMILY
  return all;
}

const Row* find_row(const ptx::Instruction& in) {
  static const Table& table = *new Table;  // never freed: threads may decode while the process ends
  const Row* row = table.find(in);
  // A wildcard row is one with a lower function; a plain row without types must match exactly.
  return row && (row->lower || in.mods.without(ignorable()) == row->mods) ? row : nullptr;
}

const MoveHandlers& moves() {
  static const MoveHandlers handlers = [] {
    switch (host::instruction_set()) {
#ifdef INFLIGHT_HAS_AVX512
      case Isa::avx512:
        return isa_avx512::move_handlers();
#endif
#ifdef INFLIGHT_HAS_AVX2
      case Isa::avx2:
        return isa_avx2::move_handlers();
#endif
#ifdef INFLIGHT_HAS_BASELINE
      default:
        return isa_baseline::move_handlers();
#else
      default:
        return MoveHandlers{};
#endif
    }
  }();
  return handlers;
}

std::string_view lane_instruction_set() { return host::name_of(host::instruction_set()); }

}  // namespace inflight::machine
