// The data that linking computes from a program's modules, in the order of its steps.
#pragma once
#include "gpu/machine/link/program.hpp"
#include "gpu/machine/link/shared_layout.hpp"

namespace inflight::machine {

inline constexpr std::uint64_t code_step = 16;  // bytes of address space a function

inline bool in_memory(ptx::Space s) { return s == ptx::Space::global || s == ptx::Space::constant; }
inline bool is_definition(ptx::Linkage l) {
  return l != ptx::Linkage::local && l != ptx::Linkage::external;
}
inline std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return to == 0 ? value : (value + to - 1) / to * to;
}

struct VariableRef {
  std::uint32_t module = ptx::none, variable = ptx::none;
};

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
  Linked check_sizes() const;
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
  // Each module's own names, for initialisers.
  std::vector<std::unordered_map<std::string_view, std::uint32_t>> own_functions, own_variables;
  std::vector<std::uint32_t> first_function;     // dense index by module; the total at the end
  std::vector<std::uint32_t> first_instruction;  // by dense function index
  std::uint64_t first_slot = 0;                  // in the code window
  std::vector<std::vector<Place>> places;
  std::vector<std::uint64_t> allocations;

  std::vector<FunctionUses> uses;                               // by dense function index
  std::unordered_map<std::uint64_t, std::uint32_t> shared_ids;  // by module << 32 | variable
  std::vector<SharedVariable> shared;
  std::vector<VariableRef> shared_refs;
  std::vector<SharedOfKernel> shared_of_kernels;

  std::unordered_map<std::string_view, std::uint32_t> kernel_index, symbol_index, own_index;
};

}  // namespace inflight::machine
