// The offsets of .shared variables, which hold for every kernel of a program at once.
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

// What one function uses, by indices that count through the whole program.
struct FunctionUses {
  std::vector<std::uint32_t> shared;   // indices of SharedVariable
  std::vector<std::uint32_t> callees;  // indices of FunctionUses
  bool calls_indirectly = false;
  bool address_taken = false;
  bool reserved_shared = false;  // reads a %reserved_smem_offset register
};

struct SharedVariable {
  std::uint32_t size = 0, alignment = 1;  // bytes
  bool dynamic = false;                   // begins where the kernel's static part ends
  std::uint32_t offset = 0;               // result, in bytes; 0 for a dynamic variable
};

// What one kernel reaches.
struct SharedOfKernel {
  std::uint32_t entry = 0;              // index of FunctionUses
  std::uint32_t bytes = 0;              // result: from the reserved bytes to the last static one
  std::uint32_t dynamic_alignment = 1;  // result: the largest of its dynamic variables
  bool reserved_shared = false;         // result: a function of the kernel has the flag
  bool names_shared = false;            // result: a function of the kernel uses a variable
};

// Sets the fields called result above. Variables follow the reserved bytes. Returns false if a
// kernel needs 4 GiB or more.
bool layout_shared(std::span<const FunctionUses> functions, std::span<SharedVariable> variables,
                   std::span<SharedOfKernel> kernels);

}  // namespace inflight::machine
