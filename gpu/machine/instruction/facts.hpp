// The properties of an instruction that its opcode determines: the columns of gpu/ptx/opcodes.def.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "gpu/ptx/opcodes.hpp"

namespace inflight::machine {

// The families by which instructions are counted. X(enumerator, name)
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

// What the instruction does to its first operand, including the q of a `p|q` there. It reads all
// others.
enum class Destination : std::uint8_t {
  nothing,
  first,    // writes it
  updated,  // reads it, then writes it
};

// Where the lanes that execute the instruction go next.
enum class Control : std::uint8_t {
  next,          // to the next instruction
  branch,        // to a label
  branch_table,  // to one of several labels
  call,
  ret,
  exit,
  fault,  // nowhere: the kernel ends
  // To the next instruction. With the two below, lanes may park at the instruction before.
  meet,  // once other lanes of the warp have arrived
  wait,  // once an event has happened, or at a barrier
};

// What the instruction does with memory.
enum class MemoryRole : std::uint8_t {
  none,  // it has no operand in brackets
  load,
  store,
  atomic,         // reads and writes, and returns the old value
  reduction,      // reads and writes
  copy,           // moves bytes asynchronously
  mbarrier,       // works on an mbarrier
  tensor_map,     // writes a tensor map
  texture,        // accesses texels: the brackets hold their coordinates
  tensor_memory,  // accesses the tensor cores' own memory, which is in no state space
  advice,         // names memory and touches none
};

struct Facts {
  Family family = Family::unknown;
  Destination written = Destination::nothing;
  Control control = Control::next;
  MemoryRole memory = MemoryRole::none;
};
const Facts& facts(ptx::Opcode opcode);

// Whether lanes may diverge, wait or end at the instruction. If so, its guard becomes a branch.
constexpr bool diverts(Control control) {
  return control != Control::next && control != Control::branch;
}
// Whether the instruction ends its basic block.
constexpr bool ends_block(Control control) {
  return control == Control::branch || control == Control::branch_table ||
         control == Control::ret || control == Control::exit || control == Control::fault;
}

}  // namespace inflight::machine
