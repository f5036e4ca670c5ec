// Linked PTX modules: kernels that can be launched and variables that have an address.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <unordered_map>
#include <vector>

#include "gpu/machine/memory/memory.hpp"
#include "gpu/ptx/module.hpp"

namespace inflight::machine {

class Program;

struct Parameter {
  std::uint32_t offset, size, alignment;  // bytes, in the parameter buffer
};

// What is known of a kernel before it is decoded.
struct [[gnu::visibility("default")]] Kernel {
  std::string name;
  const Program* program = nullptr;
  std::uint32_t module = 0, function = 0;  // where it stands in the program
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared = 0;       // bytes, of every .shared variable it can reach
  std::uint32_t dynamic_alignment = 16;  // of where dynamic shared memory starts after them
  bool uses_reserved_shared = false;     // a function that it can reach asks where it is
  std::uint32_t local_bytes = 0;         // a thread's own frame
  std::uint32_t constant_bytes = 0;      // of its module
  std::uint32_t max_threads = 1024;      // a block, from .maxntid or .reqntid
  bool built_for_size = false;           // it has one of them: its registers fit such blocks
  std::array<std::uint32_t, 3> required_block{};    // .reqntid; zeros: free
  std::array<std::uint32_t, 3> required_cluster{};  // .reqnctapercluster; zeros: free
  std::uint32_t max_registers = 0;                  // .maxnreg, or 0
  int ptx_version = 0, target = 0;                  // 90, 90: of the image it came from
};

struct Symbol {
  std::string name;
  std::uint64_t address = 0, size = 0;
  ptx::Space space = ptx::Space::global;
  bool managed = false;
};

struct LinkError {
  std::string message;
  bool no_memory = false;  // for a variable
};

class Program {
 public:
  // Links modules into one program on `device`: lays variables out in `memory`, fills initialisers,
  // resolves extern names across modules (as nvlink does). A name that nobody defines is an error
  // only for the kernels that need it, told at their launch. Variables in memory reach to the next
  // multiple of `slack`, a power of two.
  static tl::expected<std::unique_ptr<Program>, LinkError> link(
      std::vector<std::shared_ptr<const ptx::Module>> modules, Memory& memory, int device,
      std::uint64_t slack = 1);
  ~Program();

  const Kernel* kernel(std::string_view name) const;
  const Symbol* symbol(std::string_view name) const;  // .global and .const variables
  std::span<const Kernel> kernels() const { return kernels_; }
  std::span<const Symbol> symbols() const { return symbols_; }

  // --- for the machine ---
  std::span<const std::shared_ptr<const ptx::Module>> modules() const { return modules_; }
  Memory& memory() const { return *memory_; }
  int device() const { return device_; }
  struct FunctionRef {
    std::uint32_t module = ptx::none, function = ptx::none;
    bool operator==(const FunctionRef&) const = default;
  };
  // The definition that `function` of `module` means: itself if it has a body, else another
  // module's; {none, none} if there is none.
  FunctionRef resolve(std::uint32_t module, std::uint32_t function) const;
  // A variable's address: host address for .global and .const, offset for .shared; nothing if it is
  // declared extern and nobody defines it.
  struct Place {
    ptx::Space space = ptx::Space::global;
    std::uint64_t address = 0;
    bool dynamic_shared = false;  // unsized extern .shared: address is filled in at launch
    bool defined = false;
  };
  Place place(std::uint32_t module, std::uint32_t variable) const;
  std::uint64_t code_address(FunctionRef) const;  // a function's address as a value
  FunctionRef function_at(
      std::uint64_t code_address) const;  // and back; {none, none} if no function
  // The number of the function's first instruction when all the program's are numbered through.
  std::uint32_t first_number(FunctionRef) const;
  std::uint32_t function_count() const;
  std::uint32_t function_index(FunctionRef) const;  // among all modules' functions
  // What somebody keeps of a program for as long as it lives: made at first use. Thread-safe.
  struct Extension {
    virtual ~Extension() = default;
  };
  Extension& extension(std::unique_ptr<Extension> (*make)(const Program&)) const;

 private:
  Program() = default;
  struct Tables;
  std::vector<std::shared_ptr<const ptx::Module>> modules_;
  Memory* memory_ = nullptr;
  int device_ = 0;
  std::vector<Kernel> kernels_;
  std::vector<Symbol> symbols_;
  std::unique_ptr<Tables> tables_;
  mutable std::once_flag extended_;
  mutable std::unique_ptr<Extension> extension_;
};

}  // namespace inflight::machine
