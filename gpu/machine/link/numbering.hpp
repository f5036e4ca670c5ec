// A program's instructions numbered through, module by module and function by function: what events
// and copies name an instruction by.
#pragma once
#include <cstdint>

#include "gpu/machine/link/program.hpp"

namespace inflight::machine {

// Where an instruction stands.
struct Place {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  const ptx::Instruction* instruction = nullptr;  // null: the program has no such number
};
Place instruction_of(const Program& program, std::uint64_t number);

}  // namespace inflight::machine
