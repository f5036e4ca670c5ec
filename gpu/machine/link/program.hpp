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

// The properties of a kernel that need no decoding.
struct [[gnu::visibility("default")]] Kernel {
  std::string name;
  const Program* program = nullptr;
  std::uint32_t module = 0, function = 0;  // indices in the program and the module
  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared = 0;       // bytes of all static .shared variables it can reach
  std::uint32_t dynamic_alignment = 16;  // of the dynamic shared memory after them
  bool uses_reserved_shared = false;     // a function that it can reach reads its offset
  bool names_shared = false;             // a function that it can reach names a .shared variable
  std::uint32_t local_bytes = 0;         // a thread's .local variables
  std::uint32_t constant_bytes = 0;      // of its module
  std::uint32_t max_threads = 1024;      // a block, from .maxntid or .reqntid
  bool built_for_size = false;           // has one of these: its registers fit such blocks
  std::array<std::uint32_t, 3> required_block{};    // .reqntid; zeros: free
  std::array<std::uint32_t, 3> required_cluster{};  // .reqnctapercluster; zeros: free
  std::uint32_t max_registers = 0;                  // .maxnreg, or 0
  bool of_tiles = false;  // of cuda.tile: launched with blocks of one thread, and runs .reqntid
  int ptx_version = 0, target = 0;  // 90, 90: of the image it came from
};

struct Symbol {
  std::string name;
  std::uint64_t address = 0, size = 0;
  ptx::Space space = ptx::Space::global;
  bool managed = false;
};

struct LinkError {
  std::string message;
  bool no_memory = false;  // no memory for a variable
};

class Program {
 public:
  // Links modules into one program on `device`: lays variables out in `memory`, fills in
  // initialisers, and resolves extern names across modules, as nvlink does. A name without a
  // definition is an error only at the launch of a kernel that needs it. The size of each variable
  // in memory is rounded up to a multiple of `slack`, a power of two.
  static tl::expected<std::unique_ptr<Program>, LinkError> link(
      std::vector<std::shared_ptr<const ptx::Module>> modules, Memory& memory, int device,
      std::uint64_t slack = 1);
  ~Program();

  const Kernel* kernel(std::string_view name) const;
  const Symbol* symbol(std::string_view name) const;  // .global and .const variables
  std::span<const Kernel> kernels() const { return kernels_; }
  std::span<const Symbol> symbols() const { return symbols_; }

  // --- for the rest of gpu/machine ---
  std::span<const std::shared_ptr<const ptx::Module>> modules() const { return modules_; }
  Memory& memory() const { return *memory_; }
  int device() const { return device_; }
  struct FunctionRef {
    std::uint32_t module = ptx::none, function = ptx::none;
    bool operator==(const FunctionRef&) const = default;
  };
  // The definition that `function` of `module` refers to: the linked one of its name, else its own
  // body. {none, none} if there is none.
  FunctionRef resolve(std::uint32_t module, std::uint32_t function) const;
  // A variable's address: a host address for .global and .const, an offset for .shared. Not defined
  // if it is extern and no module defines it.
  struct Place {
    ptx::Space space = ptx::Space::global;
    std::uint64_t address = 0;
    bool dynamic_shared = false;  // unsized extern .shared: the launch sets the address
    bool defined = false;
  };
  Place place(std::uint32_t module, std::uint32_t variable) const;
  std::uint64_t code_address(FunctionRef) const;  // a function's address as a value
  FunctionRef function_at(
      std::uint64_t code_address) const;  // the reverse; {none, none} if no function
  // The number of the function's first instruction (numbering.hpp).
  std::uint32_t first_number(FunctionRef) const;
  std::uint32_t function_count() const;
  std::uint32_t function_index(FunctionRef) const;  // among all modules' functions
  // An object that is kept for the program's lifetime. The first call makes it with `make`; later
  // calls return the same object. Thread-safe.
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
