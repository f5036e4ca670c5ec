// Linking: names across modules, variables into memory, kernels' shapes.
#include "gpu/machine/link/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "gpu/check/names.hpp"
#include "gpu/machine/link/shared_layout.hpp"

namespace inflight::machine {
namespace {

using ptx::Linkage;
using ptx::Space;

constexpr std::uint64_t code_step = 16;  // bytes of address space a function
std::atomic<std::uint64_t> next_code_slot{1};

bool in_memory(Space s) { return s == Space::global || s == Space::constant; }
bool is_definition(Linkage l) { return l != Linkage::local && l != Linkage::external; }

bool tells_of_reserved_shared(const ptx::Operand& o) {
  using ptx::Special;
  if (o.kind != ptx::Operand::Kind::special) return false;
  const auto special = static_cast<Special>(o.index);
  return special == Special::reserved_smem_offset_begin ||
         special == Special::reserved_smem_offset_end ||
         special == Special::reserved_smem_offset_cap ||
         special == Special::reserved_smem_offset_0 || special == Special::reserved_smem_offset_1;
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return to == 0 ? value : (value + to - 1) / to * to;
}

std::uint32_t clamped(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
}

struct VariableRef {
  std::uint32_t module = ptx::none, variable = ptx::none;
};

}  // namespace

struct Program::Tables {
  Tables(Program& p, std::uint64_t slack_) : program(p), slack(slack_) {}
  ~Tables() {
    for (std::uint64_t base : allocations) program.memory_->release(base);
  }
  using Linked = tl::expected<void, LinkError>;
  Linked link();

  Linked link_names();
  Linked link_name(std::uint32_t m, const ptx::Function& f, std::uint32_t index);
  Linked link_name(std::uint32_t m, const ptx::Variable& v, std::uint32_t index);
  Linked reserve_code();
  Linked layout_shared();
  void scan(std::uint32_t m, std::uint32_t f);
  Linked layout_memory();
  Linked fill();
  Linked relocate(std::uint32_t m, const ptx::Variable& v, const ptx::Relocation& r,
                  std::uint64_t base);
  void list_kernels();
  void list_symbols();
  Kernel describe(std::uint32_t m, std::uint32_t f) const;

  const ptx::Module& module(std::uint32_t m) const { return *program.modules_[m]; }
  const ptx::Function& function(FunctionRef r) const {
    return module(r.module).functions[r.function];
  }
  std::uint32_t dense(FunctionRef r) const { return first_function[r.module] + r.function; }
  std::uint32_t functions_count() const { return first_function.back(); }
  VariableRef resolve_variable(std::uint32_t m, std::uint32_t v) const;
  bool is_kernel(std::uint32_t m, std::uint32_t f) const;
  bool defines_in_memory(std::uint32_t m, std::uint32_t v) const;
  tl::unexpected<LinkError> twice(std::string_view name, std::uint32_t second,
                                  std::uint32_t first) const;

  Program& program;
  const std::uint64_t slack;
  std::unordered_map<std::string_view, FunctionRef> functions;  // by linked name
  std::unordered_map<std::string_view, VariableRef> variables;
  // A module's own names, for initialisers.
  std::vector<std::unordered_map<std::string_view, std::uint32_t>> own_functions, own_variables;
  std::vector<std::uint32_t> first_function;     // dense index by module; one more at the end
  std::vector<std::uint32_t> first_instruction;  // by dense function
  std::uint64_t first_slot = 0;                  // in the code window
  std::vector<std::vector<Place>> places;
  std::vector<std::uint64_t> allocations;

  std::vector<FunctionUses> uses;                               // by dense function
  std::unordered_map<std::uint64_t, std::uint32_t> shared_ids;  // module and variable
  std::vector<SharedVariable> shared;
  std::vector<VariableRef> shared_refs;
  std::vector<SharedOfKernel> shared_of_kernels;

  std::unordered_map<std::string_view, std::uint32_t> kernel_index, symbol_index, own_index;
};

// --- names ----------------------------------------------------------------------------------

tl::unexpected<LinkError> Program::Tables::twice(std::string_view name, std::uint32_t second,
                                                 std::uint32_t first) const {
  return tl::unexpected(
      LinkError{fmt::format("Multiple definition of '{}' in '{}', first defined in '{}'", name,
                            module(second).name, module(first).name)});
}

// Which of two definitions of a name stands: a strong one over weak and common ones, else the
// first.
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

Program::Tables::Linked Program::Tables::reserve_code() {
  first_slot = next_code_slot.fetch_add(functions_count());
  if ((first_slot + functions_count()) * code_step > Windows::code_size)
    return tl::unexpected(LinkError{"too many functions have been loaded by this process"});
  std::uint32_t count = 0;
  for (const auto& each : program.modules_)
    for (const ptx::Function& f : each->functions)
      first_instruction.push_back(std::exchange(count, count + std::uint32_t(f.body.size())));
  return {};
}

// --- shared variables -----------------------------------------------------------------------

bool Program::Tables::is_kernel(std::uint32_t m, std::uint32_t f) const {
  const ptx::Function& fn = module(m).functions[f];
  return fn.entry && fn.has_body && program.resolve(m, f) == FunctionRef{m, f};
}

// What the function mentions. A function named by anything but a call has its address taken.
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
      else if (!function(target).entry)  // whose address is for launches
        uses[dense(target)].address_taken = true;
    }
  }
  for (const ptx::Operand& o : fn.pool) {
    mine.reserved_shared |= tells_of_reserved_shared(o);
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

// --- what others ask for --------------------------------------------------------------------

Kernel Program::Tables::describe(std::uint32_t m, std::uint32_t f) const {
  const ptx::Module& mod = module(m);
  const ptx::Function& fn = mod.functions[f];
  Kernel k;
  k.name = fn.name;
  k.program = &program;
  k.module = m;
  k.function = f;
  for (std::uint32_t p : fn.parameters) {
    const ptx::Variable& v = mod.variables[p];
    const auto alignment = std::max(v.alignment, 1u);
    const auto offset = static_cast<std::uint32_t>(round_up(k.parameter_bytes, alignment));
    k.parameters.push_back({offset, static_cast<std::uint32_t>(v.size), alignment});
    k.parameter_bytes = offset + static_cast<std::uint32_t>(v.size);
  }
  const auto product = [](const std::array<std::uint32_t, 3>& a) {
    return std::uint64_t{a[0]} * std::max(a[1], 1u) * std::max(a[2], 1u);
  };
  const auto threads = product(fn.reqntid[0] ? fn.reqntid : fn.maxntid);
  k.built_for_size = threads != 0;
  if (threads != 0)
    k.max_threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, 1024));
  if (fn.reqntid[0])
    k.required_block = {fn.reqntid[0], std::max(fn.reqntid[1], 1u), std::max(fn.reqntid[2], 1u)};
  if (fn.reqnctapercluster[0])
    k.required_cluster = {fn.reqnctapercluster[0], std::max(fn.reqnctapercluster[1], 1u),
                          std::max(fn.reqnctapercluster[2], 1u)};
  k.max_registers = fn.maxnreg;
  k.ptx_version = mod.version_major * 10 + mod.version_minor;
  k.target = mod.target_number;
  return k;
}

void Program::Tables::list_kernels() {
  std::size_t next = 0;
  for (std::uint32_t m = 0; m < program.modules_.size(); ++m) {
    std::uint64_t constant_bytes = 0;
    std::vector<std::uint64_t> local_bytes(module(m).functions.size(), 0);
    for (const ptx::Variable& v : module(m).variables) {
      if (v.space == Space::constant)
        constant_bytes = round_up(constant_bytes, v.alignment) + v.size;
      if (v.space == Space::local && v.function != ptx::none)
        local_bytes[v.function] = round_up(local_bytes[v.function], v.alignment) + v.size;
    }
    for (std::uint32_t f = 0; f < module(m).functions.size(); ++f) {
      if (!is_kernel(m, f)) continue;
      Kernel k = describe(m, f);
      k.constant_bytes = clamped(constant_bytes);
      k.local_bytes = clamped(local_bytes[f]);
      const SharedOfKernel& shared = shared_of_kernels[next++];
      k.static_shared = shared.bytes;
      k.dynamic_alignment = std::max(16u, shared.dynamic_alignment);
      k.uses_reserved_shared = shared.reserved_shared;
      program.kernels_.push_back(std::move(k));
    }
  }
  for (std::uint32_t i = 0; i < program.kernels_.size(); ++i)
    kernel_index.try_emplace(program.kernels_[i].name, i);
}

// A name that is linked stands before a module's own of the same name.
void Program::Tables::list_symbols() {
  for (std::uint32_t m = 0; m < program.modules_.size(); ++m)
    for (std::uint32_t i = 0; i < places[m].size(); ++i) {
      const ptx::Variable& v = module(m).variables[i];
      if (!defines_in_memory(m, i)) continue;
      program.symbols_.push_back(
          {std::string(v.name), places[m][i].address, v.size, v.space, v.managed});
      auto& index = is_definition(v.linkage) && v.function == ptx::none ? symbol_index : own_index;
      index.try_emplace(v.name, static_cast<std::uint32_t>(program.symbols_.size() - 1));
    }
  symbol_index.merge(own_index);
}

Program::Tables::Linked Program::Tables::link() {
  for (auto step : {&Tables::link_names, &Tables::reserve_code, &Tables::layout_shared,
                    &Tables::layout_memory, &Tables::fill})
    if (auto done = (this->*step)(); !done) return done;
  list_kernels();
  list_symbols();
  return {};
}

tl::expected<std::unique_ptr<Program>, LinkError> Program::link(
    std::vector<std::shared_ptr<const ptx::Module>> modules, Memory& memory, int device,
    std::uint64_t slack) {
  std::unique_ptr<Program> program(new Program());
  program->modules_ = std::move(modules);
  program->memory_ = &memory;
  program->device_ = device;
  program->tables_ = std::make_unique<Tables>(*program, slack);
  if (auto done = program->tables_->link(); !done) return tl::unexpected(done.error());
  return program;
}

Program::~Program() = default;

const Kernel* Program::kernel(std::string_view name) const {
  auto it = tables_->kernel_index.find(name);
  return it == tables_->kernel_index.end() ? nullptr : &kernels_[it->second];
}

const Symbol* Program::symbol(std::string_view name) const {
  auto it = tables_->symbol_index.find(name);
  return it == tables_->symbol_index.end() ? nullptr : &symbols_[it->second];
}

Program::FunctionRef Program::resolve(std::uint32_t module, std::uint32_t function) const {
  const ptx::Function& f = modules_[module]->functions[function];
  if (f.linkage != Linkage::local) {
    auto it = tables_->functions.find(f.name);
    if (it != tables_->functions.end()) return it->second;
  }
  if (f.alias_of != ptx::none) return {module, f.alias_of};
  return f.has_body ? FunctionRef{module, function} : FunctionRef{};
}

Program::Place Program::place(std::uint32_t module, std::uint32_t variable) const {
  return tables_->places[module][variable];
}

std::uint64_t Program::code_address(FunctionRef ref) const {
  return memory_->windows().code + (tables_->first_slot + tables_->dense(ref)) * code_step;
}

Program::FunctionRef Program::function_at(std::uint64_t code_address) const {
  const std::uint64_t first = memory_->windows().code + tables_->first_slot * code_step;
  const std::uint64_t index = (code_address - first) / code_step;
  if (code_address < first || index >= tables_->functions_count() ||
      (code_address - first) % code_step)
    return {};
  const auto& firsts = tables_->first_function;
  const auto module = std::upper_bound(firsts.begin(), firsts.end(), index) - firsts.begin() - 1;
  return {static_cast<std::uint32_t>(module), static_cast<std::uint32_t>(index) - firsts[module]};
}

std::uint32_t Program::first_number(FunctionRef ref) const {
  return tables_->first_instruction[tables_->dense(ref)];
}

std::uint32_t Program::function_count() const {
  return static_cast<std::uint32_t>(tables_->functions_count());
}
std::uint32_t Program::function_index(FunctionRef ref) const { return tables_->dense(ref); }

Program::Extension& Program::extension(std::unique_ptr<Extension> (*make)(const Program&)) const {
  std::call_once(extended_, [&] { extension_ = make(*this); });
  return *extension_;
}

}  // namespace inflight::machine
