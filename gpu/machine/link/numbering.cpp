// Finds an instruction by its number.
#include "gpu/machine/link/numbering.hpp"

namespace inflight::machine {

Place instruction_of(const Program& program, std::uint64_t number) {
  for (const auto& module : program.modules())
    for (const auto& function : module->functions) {
      if (number < function.body.size()) return {module.get(), &function, &function.body[number]};
      number -= function.body.size();
    }
  return {};
}

}  // namespace inflight::machine
