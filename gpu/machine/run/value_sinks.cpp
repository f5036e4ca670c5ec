// Where loaded values go, for listeners: by the program's numbers of instructions.
#include "gpu/machine/instruction/value_flow.hpp"
#include "gpu/machine/link/numbering.hpp"
#include "gpu/machine/run/observation.hpp"

namespace inflight::machine {

std::uint32_t value_sinks(const check::Kernel& kernel, std::uint32_t instruction, void* to,
                          check::Kernel::SinkHook hook) {
  const Grid& grid = *static_cast<const Grid*>(kernel.context);
  const Place at = instruction_of(*grid.launch->kernel->program, instruction);
  const Code* const code = code_of(grid, at);
  if (!code || !code->description) return 1;
  const ValueFlow flow = value_flow(*code->description, instruction - code->first_number);
  for (const ValueSink& sink : flow.sinks)
    hook(to, {code->first_number + sink.instruction, sink.element, sink.as_is, sink.target});
  return flow.elements;
}

}  // namespace inflight::machine
