// Lays out variables, shared ones in a block's memory and global and constant ones in the device's,
// and sets their initial values.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "gpu/machine/link/tables.hpp"

namespace inflight::machine {
namespace {

using ptx::Space;

bool asks_for_reserved_shared(const ptx::Operand& o) {
  using ptx::Special;
  if (o.kind != ptx::Operand::Kind::special) return false;
  const auto special = static_cast<Special>(o.index);
  return special == Special::reserved_smem_offset_begin ||
         special == Special::reserved_smem_offset_end ||
         special == Special::reserved_smem_offset_cap ||
         special == Special::reserved_smem_offset_0 || special == Special::reserved_smem_offset_1;
}

}  // namespace

// --- shared variables -----------------------------------------------------------------------

// Records what the function uses. A function named other than as a callee has its address taken.
void Program::Tables::scan(std::uint32_t m, std::uint32_t f) {
  const ptx::Function& fn = module(m).functions[f];
  FunctionUses& mine = uses[dense({m, f})];
  using Kind = ptx::Operand::Kind;
  const auto target_of = [&](const ptx::Operand& o) { return program.resolve(m, o.index); };
  for (const ptx::Instruction& in : fn.body) {
    const bool call = in.opcode == ptx::Opcode::call;
    for (const ptx::Operand& o : fn.operands(in)) {
      if (call && o.kind == Kind::reg) mine.calls_indirectly = true;
      if (o.kind != Kind::function) continue;
      const FunctionRef target = target_of(o);
      if (target.module == ptx::none) continue;
      if (call)
        mine.callees.push_back(dense(target));
      else if (!function(target).entry)  // a kernel's address is only for launches
        uses[dense(target)].address_taken = true;
    }
  }
  for (const ptx::Operand& o : fn.pool) {
    mine.reserved_shared |= asks_for_reserved_shared(o);
    const bool named =
        o.kind == Kind::variable || (o.kind == Kind::address && o.base == Kind::variable);
    if (!named || !is_shared(module(m).variables[o.index].space)) continue;
    const VariableRef v = resolve_variable(m, o.index);
    const VariableRef at = v.module == ptx::none ? VariableRef{m, o.index} : v;
    auto it = shared_ids.find(std::uint64_t{at.module} << 32 | at.variable);
    if (it != shared_ids.end()) mine.shared.push_back(it->second);
  }
  for (auto* list : {&mine.shared, &mine.callees}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

Program::Tables::Linked Program::Tables::layout_shared() {
  const auto count = static_cast<std::uint32_t>(program.modules_.size());
  uses.resize(functions_count());
  for (std::uint32_t m = 0; m < count; ++m) {
    const auto& all = module(m).variables;
    for (std::uint32_t v = 0; v < all.size(); ++v) {
      if (!is_shared(all[v].space)) continue;
      const VariableRef target = resolve_variable(m, v);
      const bool defined_here = target.module == m && target.variable == v;
      const bool dynamic = target.module == ptx::none && all[v].unsized;
      if (!defined_here && !dynamic) continue;
      if (all[v].size > UINT32_MAX)
        return tl::unexpected(
            LinkError{fmt::format("'{}' is larger than shared memory", all[v].name)});
      shared_ids[std::uint64_t{m} << 32 | v] = static_cast<std::uint32_t>(shared.size());
      shared.push_back({static_cast<std::uint32_t>(all[v].size), all[v].alignment, dynamic, 0});
      shared_refs.push_back({m, v});
    }
  }
  for (std::uint32_t m = 0; m < count; ++m)
    for (std::uint32_t f = 0; f < module(m).functions.size(); ++f) scan(m, f);
  for (std::uint32_t m = 0; m < count; ++m)
    for (const ptx::Variable& v : module(m).variables)
      for (const ptx::Relocation& r : v.relocations)
        if (auto it = own_functions[m].find(r.symbol); it != own_functions[m].end())
          if (FunctionRef f = program.resolve(m, it->second); f.module != ptx::none)
            uses[dense(f)].address_taken = true;
  for (std::uint32_t m = 0; m < count; ++m)
    for (std::uint32_t f = 0; f < module(m).functions.size(); ++f)
      if (is_kernel(m, f)) shared_of_kernels.push_back({.entry = dense({m, f})});
  if (!machine::layout_shared(uses, shared, shared_of_kernels))
    return tl::unexpected(LinkError{"a kernel's .shared variables take 4 GiB or more"});
  return {};
}

// --- global and constant variables ----------------------------------------------------------

Program::Tables::Linked Program::Tables::layout_memory() {
  const auto count = static_cast<std::uint32_t>(program.modules_.size());
  places.resize(count);
  for (std::uint32_t m = 0; m < count; ++m) {
    const auto& all = module(m).variables;
    places[m].resize(all.size());
    for (std::uint32_t v = 0; v < all.size(); ++v) {
      if (!defines_in_memory(m, v)) continue;
      const auto kind = all[v].managed                    ? AllocationKind::managed
                        : all[v].space == Space::constant ? AllocationKind::constant
                                                          : AllocationKind::variable;
      auto base = program.memory_->allocate(
          program.device_, round_up(std::max<std::uint64_t>(all[v].size, 1), slack), kind,
          all[v].alignment, std::string(all[v].name));
      if (!base)
        return tl::unexpected(
            LinkError{fmt::format("no memory for '{}': {}", all[v].name, base.error()), true});
      allocations.push_back(*base);
      places[m][v] = {all[v].space, *base, false, true};
    }
  }
  for (std::size_t i = 0; i < shared.size(); ++i)
    places[shared_refs[i].module][shared_refs[i].variable] = {Space::shared, shared[i].offset,
                                                              shared[i].dynamic, true};
  for (std::uint32_t m = 0; m < count; ++m)
    for (std::uint32_t v = 0; v < places[m].size(); ++v)
      if (const VariableRef target = resolve_variable(m, v); target.module != ptx::none)
        places[m][v] = places[target.module][target.variable];
  return {};
}

Program::Tables::Linked Program::Tables::relocate(std::uint32_t m, const ptx::Variable& v,
                                                  const ptx::Relocation& r, std::uint64_t base) {
  std::uint64_t value = 0;
  if (auto f = own_functions[m].find(r.symbol); f != own_functions[m].end()) {
    const FunctionRef target = program.resolve(m, f->second);
    value = program.code_address(target.module == ptx::none ? FunctionRef{m, f->second} : target);
  } else {
    auto it = own_variables[m].find(r.symbol);
    const Place place = it == own_variables[m].end() ? Place{} : places[m][it->second];
    if (!place.defined)
      return tl::unexpected(
          LinkError{fmt::format("Undefined reference to '{}' in '{}'", r.symbol, module(m).name)});
    if (!in_memory(place.space))
      return tl::unexpected(LinkError{
          fmt::format("the initialiser of '{}' holds the address of '{}', which is not constant",
                      v.name, r.symbol)});
    value = place.address;
  }
  if (r.offset > v.size || r.size > v.size - r.offset || r.size > 8)
    return tl::unexpected(
        LinkError{fmt::format("an address in the initialiser of '{}' lies past its end", v.name)});
  value = (value + static_cast<std::uint64_t>(r.addend)) >> r.shift;
  std::memcpy(reinterpret_cast<std::byte*>(base) + r.offset, &value, r.size);
  return {};
}

Program::Tables::Linked Program::Tables::fill() {
  const HostView::Access open(program.memory_->host_view());
  for (std::uint32_t m = 0; m < program.modules_.size(); ++m) {
    for (std::uint32_t i = 0; i < places[m].size(); ++i) {
      const ptx::Variable& v = module(m).variables[i];
      if (!defines_in_memory(m, i)) continue;
      const std::uint64_t base = places[m][i].address;
      program.memory_->clear(base);
      std::copy_n(v.initial.data(), std::min<std::uint64_t>(v.initial.size(), v.size),
                  reinterpret_cast<std::byte*>(base));
      for (const ptx::Relocation& r : v.relocations)
        if (auto done = relocate(m, v, r, base); !done) return done;
    }
  }
  return {};
}

}  // namespace inflight::machine
