// Where .shared variables lie: offsets that hold for every kernel of a program at once.
//
// A function is decoded once for all kernels that call it, so a variable has one offset in the
// whole program. Two variables may overlap if no kernel reaches both.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/machine/link/reserved_shared.hpp"
#include "gpu/ptx/module.hpp"

namespace inflight::machine {

// What one function mentions, by dense indices over the program.
struct FunctionUses {
  std::vector<std::uint32_t> shared;   // SharedVariable
  std::vector<std::uint32_t> callees;  // FunctionUses
  bool calls_indirectly = false;
  bool address_taken = false;
  bool reserved_shared = false;  // asks where reserved shared memory is
};

struct SharedVariable {
  std::uint32_t size = 0, alignment = 1;  // bytes
  bool dynamic = false;                   // begins where the kernel's static part ends
  std::uint32_t offset = 0;               // the result; of a dynamic one: 0
};

// What one kernel reaches.
struct SharedOfKernel {
  std::uint32_t entry = 0;              // FunctionUses
  std::uint32_t bytes = 0;              // the result: to the end of the last static variable
  std::uint32_t dynamic_alignment = 1;  // the result: what its dynamic variables ask for
  bool reserved_shared = false;         // the result: a function of it asks for it
};

// Sets what is called a result above. Variables follow the reserved bytes. False if a kernel needs
// 4 GiB or more.
bool layout_shared(std::span<const FunctionUses> functions, std::span<SharedVariable> variables,
                   std::span<SharedOfKernel> kernels);

}  // namespace inflight::machine
