// Consecutive numbers of a program's instructions, in the order of its modules and functions.
// Events and copies identify an instruction by its number.
#pragma once
#include <cstdint>

#include "gpu/machine/link/program.hpp"

namespace inflight::machine {

// The place of an instruction.
struct Place {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  const ptx::Instruction* instruction = nullptr;  // null: the program has no such number
};
Place instruction_of(const Program& program, std::uint64_t number);

}  // namespace inflight::machine
