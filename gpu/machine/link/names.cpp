// Resolves names across modules: which definition wins, and which one a declaration refers to.
#include <fmt/format.h>

#include <algorithm>

#include "gpu/machine/link/tables.hpp"

namespace inflight::machine {

using ptx::Linkage;

tl::unexpected<LinkError> Program::Tables::twice(std::string_view name, std::uint32_t second,
                                                 std::uint32_t first) const {
  return tl::unexpected(
      LinkError{fmt::format("Multiple definition of '{}' in '{}', first defined in '{}'", name,
                            module(second).name, module(first).name)});
}

// Records a definition of a name. A strong one wins over weak and common ones; else the first wins.
Program::Tables::Linked Program::Tables::link_name(std::uint32_t m, const ptx::Function& f,
                                                   std::uint32_t index) {
  const bool aliased = f.alias_of != ptx::none;
  if (!is_definition(f.linkage) || (!f.has_body && !aliased)) return {};
  const FunctionRef here{m, aliased ? f.alias_of : index};
  auto [it, fresh] = functions.try_emplace(f.name, here);
  if (fresh || f.linkage != Linkage::visible) return {};
  const FunctionRef old = it->second;
  if (function(old).linkage == Linkage::visible) return twice(f.name, m, old.module);
  it->second = here;
  return {};
}

Program::Tables::Linked Program::Tables::link_name(std::uint32_t m, const ptx::Variable& v,
                                                   std::uint32_t index) {
  if (v.function != ptx::none || !is_definition(v.linkage)) return {};
  if (!in_memory(v.space) && !is_shared(v.space)) return {};
  const VariableRef here{m, index};
  auto [it, fresh] = variables.try_emplace(v.name, here);
  if (fresh) return {};
  const ptx::Variable& old = module(it->second.module).variables[it->second.variable];
  if (v.linkage == Linkage::visible && old.linkage == Linkage::visible)
    return twice(v.name, m, it->second.module);
  const bool larger_common =
      v.linkage == Linkage::common && old.linkage == Linkage::common && v.size > old.size;
  if (v.linkage == Linkage::visible || larger_common) it->second = here;
  return {};
}

Program::Tables::Linked Program::Tables::link_names() {
  const auto count = static_cast<std::uint32_t>(program.modules_.size());
  own_functions.resize(count);
  own_variables.resize(count);
  first_function.assign(1, 0);
  for (std::uint32_t m = 0; m < count; ++m) {
    const ptx::Module& mod = module(m);
    first_function.push_back(first_function.back() +
                             static_cast<std::uint32_t>(mod.functions.size()));
    for (std::uint32_t f = 0; f < mod.functions.size(); ++f) {
      own_functions[m].try_emplace(mod.functions[f].name, f);
      if (auto done = link_name(m, mod.functions[f], f); !done) return done;
    }
    for (std::uint32_t v = 0; v < mod.variables.size(); ++v) {
      if (mod.variables[v].function == ptx::none)
        own_variables[m].try_emplace(mod.variables[v].name, v);
      if (auto done = link_name(m, mod.variables[v], v); !done) return done;
    }
  }
  return check_sizes();
}

// A declaration of a variable and its definition have the same size if both have one. Only common
// definitions may differ.
Program::Tables::Linked Program::Tables::check_sizes() const {
  for (std::uint32_t m = 0; m < program.modules_.size(); ++m)
    for (std::uint32_t v = 0; v < module(m).variables.size(); ++v) {
      const VariableRef target = resolve_variable(m, v);
      if (target.module == ptx::none) continue;
      const ptx::Variable& here = module(m).variables[v];
      const ptx::Variable& there = module(target.module).variables[target.variable];
      const bool common = here.linkage == Linkage::common && there.linkage == Linkage::common;
      if (here.unsized || there.unsized || here.size == there.size || common) continue;
      return tl::unexpected(LinkError{fmt::format(
          "Size doesn't match for '{}' in '{}', first specified in '{}'", here.name,
          module(std::max(m, target.module)).name, module(std::min(m, target.module)).name)});
    }
  return {};
}

VariableRef Program::Tables::resolve_variable(std::uint32_t m, std::uint32_t v) const {
  const ptx::Variable& variable = module(m).variables[v];
  if (variable.linkage == Linkage::local || variable.function != ptx::none) return {m, v};
  auto it = variables.find(variable.name);
  return it == variables.end() ? VariableRef{} : it->second;
}

bool Program::Tables::defines_in_memory(std::uint32_t m, std::uint32_t v) const {
  const VariableRef target = resolve_variable(m, v);
  return in_memory(module(m).variables[v].space) && target.module == m && target.variable == v;
}

}  // namespace inflight::machine
