// The instruction set of loops over lanes: the best that this build contains and the host's
// processor supports, or the one that INFLIGHT_ISA names.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace inflight::host {

enum class InstructionSet { baseline, avx2, avx512 };

InstructionSet instruction_set();

std::string_view name_of(InstructionSet set);
// The set with this name, if this build contains it and the processor supports it.
std::optional<InstructionSet> usable_instruction_set(std::string_view name);
// The names of all sets that can be used here, separated by " or ".
std::string usable_instruction_sets();

}  // namespace inflight::host
