// A program of linked modules: its kernels, its symbols and its lookups.
#include "gpu/machine/link/program.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "gpu/machine/link/tables.hpp"

namespace inflight::machine {
namespace {

using ptx::Linkage;
using ptx::Space;

std::atomic<std::uint64_t> next_code_slot{1};

std::uint32_t clamped(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
}

}  // namespace

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

bool Program::Tables::is_kernel(std::uint32_t m, std::uint32_t f) const {
  const ptx::Function& fn = module(m).functions[f];
  return fn.entry && fn.has_body && program.resolve(m, f) == FunctionRef{m, f};
}

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
  constexpr std::uint32_t tiles = 7;
  k.of_tiles = fn.language == tiles && fn.reqntid[0];
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
      k.names_shared = shared.names_shared;
      program.kernels_.push_back(std::move(k));
    }
  }
  for (std::uint32_t i = 0; i < program.kernels_.size(); ++i)
    kernel_index.try_emplace(program.kernels_[i].name, i);
}

// A linked name takes precedence over a module's own variable of the same name.
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
