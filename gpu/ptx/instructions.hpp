// The table of instructions, and the decoder of opcodes as written.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/ptx/assembled.hpp"
#include "gpu/ptx/module.hpp"
#include "gpu/ptx/name_map.hpp"

namespace inflight::ptx {

// The forms that an opcode allows: a row of instructions.def.
struct Rule {
  Opcode opcode = Opcode::unknown;
  std::uint8_t min_operands = 0, max_operands = 0;
  std::uint8_t min_types = 0, max_types = 0;
  std::uint64_t types = 0;   // bit Type
  std::uint32_t spaces = 0;  // bit Space
  std::uint8_t vectors = 0;  // bit 1, 2, 3: .v2, .v4, .v8
  ModSet mods;
  std::string_view mistake = {};  // an unknown word in the row, if there is one
};

const Rule& rule(Opcode);

// One dot component: `f32`, `shared::cta`, `v4`, `relaxed`.
struct Word {
  enum class Kind : std::uint8_t { unknown, type, space, vector, mod };
  Kind kind = Kind::unknown;
  std::uint16_t value = 0;  // Type, Space, 2 or 4 or 8, Mod
};

Word find_word(std::string_view component);

// An opcode as written, decoded once.
struct Form {
  Instruction instruction;                // fields opcode to name; unknown if refused
  Opcode base = Opcode::unknown;          // set even if a modifier is unknown
  std::string refusal;                    // the reason; empty if accepted
  std::string assembler_refusal;          // why no assembler takes it; empty if one may
  int refused_until = kAssembledVersion;  // the newest PTX for which that is known
};

Form decode(std::string_view opcode);

// Caches decoded forms by their text. References stay valid as long as the cache.
class FormCache {
 public:
  const Form& find(std::string_view opcode, std::uint32_t hash);

 private:
  NameMap names_;
  std::deque<Form> forms_;
};

}  // namespace inflight::ptx
