// Counts instructions.
#include "gpu/machine/numbering.hpp"

namespace inflight::machine {

std::uint32_t first_number(const Program& program, Program::FunctionRef ref) {
  std::uint32_t count = 0;
  for (std::uint32_t m = 0; m <= ref.module; ++m) {
    const auto& functions = program.modules()[m]->functions;
    const std::uint32_t end = m == ref.module ? ref.function : std::uint32_t(functions.size());
    for (std::uint32_t f = 0; f < end; ++f) count += std::uint32_t(functions[f].body.size());
  }
  return count;
}

Numbered instruction_of(const Program& program, std::uint64_t number) {
  for (const auto& module : program.modules())
    for (const auto& function : module->functions) {
      if (number < function.body.size()) return {module.get(), &function, &function.body[number]};
      number -= function.body.size();
    }
  return {};
}

}  // namespace inflight::machine
