// Finds the variable of a program at an address.
#include <algorithm>
#include <span>
#include <vector>

#include "gpu/machine/link/numbering.hpp"
#include "gpu/machine/run/observe/events.hpp"

namespace inflight::machine {
namespace {

using check::Variable;
using FunctionRef = Program::FunctionRef;
using Kind = ptx::Operand::Kind;

bool holds(const Variable& v, std::uint64_t address) { return address - v.address < v.bytes; }

// Calls f(operand) for each operand of the function, and for each element of lists and vectors.
template <class F>
void each_operand(const ptx::Function& function, std::span<const ptx::Operand> operands, F f) {
  for (const ptx::Operand& o : operands) {
    f(o);
    if (o.kind == Kind::list || o.kind == Kind::vector)
      each_operand(function, std::span(function.pool).subspan(o.index, o.count), f);
  }
}
template <class F>
void each_operand(const ptx::Function& function, F f) {
  for (const ptx::Instruction& in : function.body) each_operand(function, function.operands(in), f);
}

// The functions that a kernel reaches. Variables of other functions may overlap theirs in shared
// memory.
std::vector<FunctionRef> reached(const Kernel& kernel) {
  const Program& program = *kernel.program;
  std::vector<FunctionRef> all{{kernel.module, kernel.function}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const FunctionRef ref = all[i];
    each_operand(program.modules()[ref.module]->functions[ref.function], [&](const auto& o) {
      if (o.kind != Kind::function) return;
      const FunctionRef callee = program.resolve(ref.module, o.index);
      if (callee.module != ptx::none && std::find(all.begin(), all.end(), callee) == all.end())
        all.push_back(callee);
    });
  }
  return all;
}

Variable shared_variable(const Grid& grid, std::uint64_t address) {
  const Program& program = *grid.launch->kernel->program;
  Variable found;
  for (const FunctionRef ref : reached(*grid.launch->kernel)) {
    const ptx::Module& module = *program.modules()[ref.module];
    const ptx::Function& function = module.functions[ref.function];
    each_operand(function, [&](const ptx::Operand& o) {
      if (o.kind != Kind::variable && !(o.kind == Kind::address && o.base == Kind::variable))
        return;
      const ptx::Variable& v = module.variables[o.index];
      if (v.space != ptx::Space::shared && v.space != ptx::Space::shared_cta) return;
      const Program::Place place = program.place(ref.module, o.index);
      const Variable candidate{v.name, place.dynamic_shared ? grid.dynamic_offset : place.address,
                               place.dynamic_shared ? grid.launch->dynamic_shared : v.size};
      if (place.defined && found.name.empty() && holds(candidate, address)) found = candidate;
    });
  }
  return found;
}

Variable program_variable(const Program& program, std::uint64_t address) {
  for (const Symbol& symbol : program.symbols()) {
    const Variable candidate{symbol.name, symbol.address, symbol.size};
    if (holds(candidate, address)) return candidate;
  }
  return {};
}

Variable local_variable(const Grid& grid, std::uint64_t address, std::uint32_t instruction) {
  const Place at = instruction_of(*grid.launch->kernel->program, instruction);
  const Code* const code = code_of(grid, at);
  if (!code) return {};
  for (const auto& [variable, offset] : code->locals) {
    const ptx::Variable& v = at.module->variables[variable];
    if (const Variable candidate{v.name, offset, v.size}; holds(candidate, address))
      return candidate;
  }
  return {};
}

Variable parameter(const Kernel& kernel, std::uint64_t address) {
  const ptx::Module& module = *kernel.program->modules()[kernel.module];
  const ptx::Function& function = module.functions[kernel.function];
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& p = kernel.parameters[i];
    const Variable candidate{module.variables[function.parameters[i]].name, p.offset, p.size};
    if (holds(candidate, address)) return candidate;
  }
  return {};
}

}  // namespace

const Code* code_of(const Grid& grid, const Place& at) {
  const Program& program = *grid.launch->kernel->program;
  for (std::uint32_t m = 0; at.function && m < program.modules().size(); ++m) {
    if (program.modules()[m].get() != at.module) continue;
    const auto index = static_cast<std::uint32_t>(at.function - at.module->functions.data());
    const auto code = grid.code({m, index});
    return code ? *code : nullptr;
  }
  return nullptr;
}

check::Variable variable_at(const check::Kernel& kernel, check::Space space, std::uint64_t address,
                            std::uint32_t instruction) {
  const Grid& grid = *static_cast<const Grid*>(kernel.context);
  switch (space) {
    case check::Space::shared:
      return shared_variable(grid, address);
    case check::Space::local:
      return local_variable(grid, address, instruction);
    case check::Space::param:
      return parameter(*grid.launch->kernel, address);
    default:
      return program_variable(*grid.launch->kernel->program, address);
  }
}

}  // namespace inflight::machine
