// What is known of an instruction by its opcode alone: the columns of gpu/ptx/opcodes.def.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "gpu/ptx/opcodes.hpp"

namespace inflight::machine {

// What instructions are counted by. X(enumerator, name)
// clang-format off
#define INFLIGHT_FAMILIES_OF_INSTRUCTIONS(X)                                                       \
  X(integer, "integer") X(bits, "bits") X(floating, "float") X(compare, "compare")                 \
  X(convert, "convert") X(move, "move") X(load, "load") X(store, "store") X(atomic, "atomic")      \
  X(fence, "fence") X(barrier, "barrier") X(matrix, "matrix") X(tensor_map, "tensor map")          \
  X(collective, "collective") X(copy, "copy") X(bulk_copy, "bulk copy")                            \
  X(tensor_copy, "tensor copy") X(async_store, "async store") X(mbarrier, "mbarrier")              \
  X(branch, "branch") X(call, "call") X(cache, "cache") X(stack, "stack") X(system, "system")      \
  X(video, "video") X(texture, "texture") X(tensor_core, "tensor core") X(multimem, "multimem")    \
  X(unknown, "unknown")
// clang-format on

enum class Family : std::uint8_t {
#define X(name, text) name,
  INFLIGHT_FAMILIES_OF_INSTRUCTIONS(X)
#undef X
};
std::span<const std::string_view> family_names();  // by Family

// What becomes of the first operand, and of the q of a `p|q` there. All others are read.
enum class Destination : std::uint8_t {
  nothing,
  first,    // it is written
  updated,  // it is read, then written
};

// Where the lanes that execute it go next.
enum class Control : std::uint8_t {
  next,          // to the next instruction
  branch,        // to a label
  branch_table,  // to one of several labels
  call,
  ret,
  exit,
  fault,  // nowhere: the kernel ends
  meet,   // to the next, once other lanes of the warp have come
  wait,   // to the next, once something has happened
};

// What it does with memory.
enum class MemoryRole : std::uint8_t {
  none,
  load,
  store,
  atomic,      // reads and writes, and gives back what it read
  reduction,   // reads and writes
  copy,        // moves bytes asynchronously
  mbarrier,    // works on an mbarrier
  tensor_map,  // writes a tensor map
  advice,      // names memory and touches none
};

struct Facts {
  Family family = Family::unknown;
  Destination written = Destination::nothing;
  Control control = Control::next;
  MemoryRole memory = MemoryRole::none;
};
const Facts& facts(ptx::Opcode opcode);

// May its lanes part, wait or end? Then a guard around it is a branch.
constexpr bool diverts(Control control) {
  return control != Control::next && control != Control::branch;
}
// Does control leave a basic block behind it?
constexpr bool ends_block(Control control) {
  return control == Control::branch || control == Control::branch_table ||
         control == Control::ret || control == Control::exit || control == Control::fault;
}

}  // namespace inflight::machine
