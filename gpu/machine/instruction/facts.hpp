// The properties of an instruction that its opcode determines: the columns of gpu/ptx/opcodes.def.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "gpu/check/events.hpp"
#include "gpu/ptx/opcodes.hpp"

namespace inflight::machine {

// The families by which instructions are counted, and the kind of fault that an error in their
// operands is to a checker. X(enumerator, name, mistake)
// clang-format off
#define INFLIGHT_FAMILIES_OF_INSTRUCTIONS(X)                                                       \
  X(integer, "integer", other) X(bits, "bits", other) X(floating, "float", other)                  \
  X(compare, "compare", other) X(convert, "convert", other) X(move, "move", other)                 \
  X(load, "load", other) X(store, "store", other) X(atomic, "atomic", other)                       \
  X(fence, "fence", other) X(barrier, "barrier", barrier) X(matrix, "matrix", barrier)             \
  X(tensor_map, "tensor map", tensor_map) X(collective, "collective", barrier)                     \
  X(copy, "copy", other) X(bulk_copy, "bulk copy", other)                                          \
  X(tensor_copy, "tensor copy", tensor_map) X(async_store, "async store", other)                   \
  X(mbarrier, "mbarrier", barrier) X(branch, "branch", other) X(call, "call", other)               \
  X(cache, "cache", other) X(stack, "stack", other) X(system, "system", other)                     \
  X(grid_control, "grid control", other)                                                           \
  X(video, "video", other) X(texture, "texture", other) X(tensor_core, "tensor core", barrier)     \
  X(multimem, "multimem", other) X(unknown, "unknown", other)
// clang-format on

enum class Family : std::uint8_t {
#define X(name, text, mistake) name,
  INFLIGHT_FAMILIES_OF_INSTRUCTIONS(X)
#undef X
};
std::span<const std::string_view> family_names();  // by Family
check::Fault::Kind mistake_of(Family family);

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

// What the instruction does in all.
enum class Effect : std::uint8_t {
  // It computes registers from registers: those of its lane or, if it meets, of its warp.
  moves,     // an operand's value, as it is
  keeps,     // each bit that it takes from an operand, at its place in its byte
  computes,  // other values
  // More than that:
  accesses,  // what its memory role says
  other,     // it changes or reads something besides registers and memory, or goes elsewhere
};
constexpr bool computes(Effect effect) { return effect <= Effect::computes; }

struct Facts {
  Family family = Family::unknown;
  Destination written = Destination::nothing;
  Control control = Control::next;
  MemoryRole memory = MemoryRole::none;
  Effect effect = Effect::other;
};

// By opcode. A row that lacks a column does not compile.
inline constexpr Facts all_facts[] = {
#define OPCODE(name, text, family, written, control, memory, effect, detail) \
  {Family::family, Destination::written, Control::control, MemoryRole::memory, Effect::effect},
#include "gpu/ptx/opcodes.def"
#undef OPCODE
};
static_assert(std::size(all_facts) == static_cast<std::size_t>(ptx::Opcode::count_));
constexpr const Facts& facts(ptx::Opcode opcode) {
  return all_facts[static_cast<std::size_t>(opcode)];
}

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
