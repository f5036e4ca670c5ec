// Lays out parameters, then variables, then parameters of calls, which live briefly and share
// space.
#include "gpu/machine/lowering/local_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "gpu/machine/config/limits.hpp"

namespace inflight::machine {

using ptx::Operand;
using ptx::Space;
using Kind = Operand::Kind;

bool entry_parameter(const ptx::Module& module, const ptx::Function& function,
                     std::uint32_t variable, std::uint32_t& offset) {
  const auto& all = function.parameters;  // their numbers count up
  if (!function.entry || all.empty() || variable < all.front() || variable > all.back())
    return false;
  std::uint32_t at = 0;
  for (std::uint32_t p : function.parameters) {
    const auto& v = module.variables[p];
    const std::uint32_t alignment = std::max(1u, v.alignment);
    at = (at + alignment - 1) / alignment * alignment;
    if (p == variable) {
      offset = at;
      return true;
    }
    at += static_cast<std::uint32_t>(v.size);
  }
  return false;
}

LocalLayout::LocalLayout(const ptx::Module& module, const ptx::Function& function,
                         std::uint32_t index)
    : module_(module), function_(function) {
  std::uint64_t end = 0;
  if (!function.entry) {
    refuse_parameters();
    for (std::uint32_t p : function.parameters) parameters_.push_back(put(p, end));
    for (std::uint32_t r : function.returns) returns_.push_back(put(r, end));
  }
  put_variables(index, end);
  put_call_parameters(end);
  if (end > Limits::local_per_thread || alignment_ > Limits::local_per_thread)
    errors_.push_back(
        fmt::format("{} needs {} bytes of local memory per thread, aligned to {}; a "
                    "thread has {}",
                    function.name, end, alignment_, Limits::local_per_thread));
  bytes_ = static_cast<std::uint32_t>((end + 15) / 16 * 16);
}

std::uint32_t LocalLayout::offset(std::uint32_t variable) const {
  const auto it = offsets_.find(variable);
  return it == offsets_.end() ? 0 : it->second;
}

LocalRange LocalLayout::put(std::uint32_t v, std::uint64_t& at) {
  const auto& variable = module_.variables[v];
  const std::uint32_t alignment = std::max(4u, variable.alignment);
  at = (at + alignment - 1) / alignment * alignment;
  offsets_[v] = static_cast<std::uint32_t>(at);
  alignment_ = std::max(alignment_, alignment);
  const LocalRange range{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(variable.size)};
  at += (variable.size + 3) / 4 * 4;
  return range;
}

// Reports parameters that calls cannot pass.
void LocalLayout::refuse_parameters() {
  for (const auto* list : {&function_.parameters, &function_.returns})
    for (std::uint32_t v : *list) {
      if (module_.variables[v].unsized)
        errors_.push_back(
            fmt::format("{} is variadic (its parameter {} has no size), which is not "
                        "supported",
                        function_.name, module_.variables[v].name));
      else if (module_.variables[v].space == Space::reg)
        errors_.push_back(
            fmt::format("{} has the .reg parameter {}; only .param ones are supported",
                        function_.name, module_.variables[v].name));
    }
}

void LocalLayout::put_variables(std::uint32_t index, std::uint64_t& end) {
  for (std::uint32_t v = 0; v < module_.variables.size(); ++v)
    if (module_.variables[v].space == Space::local && module_.variables[v].function == index)
      put(v, end);
}

// Places the parameters of calls. One lives from the first to the last instruction that names it.
void LocalLayout::put_call_parameters(std::uint64_t& end) {
  struct Life {
    std::uint32_t variable, begin, end;
  };
  std::unordered_map<std::uint32_t, Life> lives;
  for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
    auto name = [&](const Operand& o) {
      const bool variable =
          o.kind == Kind::variable || (o.kind == Kind::address && o.base == Kind::variable);
      if (!variable || module_.variables[o.index].space != Space::param) return;
      if (offsets_.contains(o.index)) return;
      auto [it, fresh] = lives.try_emplace(o.index, Life{o.index, i, i});
      it->second.end = i;
    };
    for (const Operand& o : function_.operands(function_.body[i])) {
      name(o);
      if (o.kind == Kind::list || o.kind == Kind::vector)
        for (unsigned k = 0; k < o.count; ++k) name(function_.pool[o.index + k]);
    }
  }
  std::vector<Life> order;
  std::uint32_t unused = 0;
  for (const auto& [v, life] : lives)
    if (!entry_parameter(module_, function_, v, unused)) order.push_back(life);
  std::sort(order.begin(), order.end(), [](const Life& a, const Life& b) {
    return std::tie(a.begin, a.variable) < std::tie(b.begin, b.variable);
  });
  // Calls follow each other: a parameter that begins after all earlier ones ended reuses the space.
  const std::uint64_t base = (end + 15) / 16 * 16;
  std::uint64_t top = base;
  std::uint32_t busy_until = 0;
  for (const Life& life : order) {
    if (life.begin > busy_until) top = base;
    put(life.variable, top);
    busy_until = std::max(busy_until, life.end);
    end = std::max(end, top);
  }
}

}  // namespace inflight::machine
