// Have threads gone past an instruction? Implements queries of listeners.
#include "gpu/machine/instruction/passing.hpp"

#include "gpu/machine/link/numbering.hpp"
#include "gpu/machine/run/observe/events.hpp"

namespace inflight::machine {

namespace {

// The code of the kernel's own function if it holds the instruction, else null.
const Code* own_code(const check::Kernel& kernel, std::uint32_t instruction) {
  const Grid& grid = *static_cast<const Grid*>(kernel.context);
  const Place at = instruction_of(*grid.launch->kernel->program, instruction);
  const Code* const code = code_of(grid, at);
  return code && code->description && at.function->entry ? code : nullptr;
}

}  // namespace

bool all_pass_behind(const check::Kernel& kernel, std::uint32_t instruction) {
  const Code* const code = own_code(kernel, instruction);
  return code && all_pass_behind(*code->description, instruction - code->first_number);
}

bool has_left(const check::Kernel& kernel, std::uint32_t before, std::uint32_t instruction) {
  const Code* const code = own_code(kernel, instruction);
  return code && own_code(kernel, before) == code &&
         has_left(*code->description, before - code->first_number,
                  instruction - code->first_number);
}

}  // namespace inflight::machine
