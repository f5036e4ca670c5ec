// Do all threads that have exited pass an instruction? Implements a query of listeners.
#include "gpu/machine/instruction/passing.hpp"

#include "gpu/machine/link/numbering.hpp"
#include "gpu/machine/run/observe/events.hpp"

namespace inflight::machine {

bool all_pass_behind(const check::Kernel& kernel, std::uint32_t instruction) {
  const Grid& grid = *static_cast<const Grid*>(kernel.context);
  const Place at = instruction_of(*grid.launch->kernel->program, instruction);
  const Code* const code = code_of(grid, at);
  if (!code || !code->description || !at.function->entry) return false;
  return all_pass_behind(*code->description, instruction - code->first_number);
}

}  // namespace inflight::machine
