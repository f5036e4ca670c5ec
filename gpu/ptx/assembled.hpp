// Which opcodes and words the driver's assembler takes together.
#pragma once
#include <string>
#include <string_view>

#include "gpu/ptx/opcodes.hpp"

namespace inflight::ptx {

// The newest PTX whose forms assembled.def holds: major * 10 + minor.
inline constexpr int kAssembledVersion = 95;

// Does assembled.def have the forms of this opcode?
bool is_listed(Opcode);
// Does assembled_words.def have its words?
bool has_words(Opcode);
// Does ptxas take this word on no instruction `name` of the opcode, whatever its other words? False
// for types, and if assembled_words.def lacks the opcode.
bool is_foreign(Opcode, std::string_view name, std::string_view word);

// Why ptxas takes the instruction `name` for no chip: a word that is none of its opcode's, or one
// that is said twice. `words` is what follows its opcode (`.sat.s32`). Empty if ptxas may take it,
// and for opcodes that assembled.def does not list.
std::string assembly_mistake(Opcode, std::string_view name, std::string_view words);

// What to say of an instruction without its rounding.
std::string precision_mistake(std::string_view name);

// The same for a name that starts with no known opcode, if it is near to one. Others may be the
// assembler's own.
std::string unknown_opcode_mistake(std::string_view name);

}  // namespace inflight::ptx
