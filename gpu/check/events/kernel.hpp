// The launch, the threads and the instruction that an event belongs to.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace inflight::check {

using Mask = std::uint32_t;  // bit l: lane l of the warp
inline constexpr std::uint32_t lanes = 32;
inline constexpr std::uint32_t nothing = 0xffffffff;  // no index

enum class Space : std::uint8_t { global, shared, local, constant, param };
inline constexpr std::uint32_t space_count = 5;

// A line of the source.
struct SourceLine {
  std::string_view file;
  std::uint32_t line = 0, column = 0;
};

// One instruction of a kernel, or of a function it calls.
// What an instruction does to memory.
struct Act {
  enum class Kind : std::uint8_t {
    other,   // more than one access, or none, or asynchronously
    reads,   // the thread reads
    writes,  // the thread writes
  };
  Kind kind = Kind::other;
  bool by_warp = false;   // its lanes wait until all of them have executed it
  bool uses_map = false;  // it copies by a tensor map
};

struct Instruction {
  std::string_view text;       // the opcode as written: "ld.global.f32"
  std::uint32_t family = 0;    // index in Kernel::families
  std::uint32_t ptx_line = 0;  // from 1
  std::string_view module;     // the file that the PTX is from; empty: unknown
  std::string_view file;       // from -lineinfo, else empty
  std::uint32_t line = 0, column = 0;
  std::string_view function;           // the function that contains it after inlining
  std::vector<SourceLine> inlined_at;  // inlined calls, innermost first
  Act act;
};

// The variable that contains an address. The name is empty if it is unknown.
struct Variable {
  std::string_view name;  // as in PTX (mangled)
  std::uint64_t address = 0, bytes = 0;
};

struct Extents {
  std::uint32_t x = 1, y = 1, z = 1;
};

// How closely an instruction's result matches that of the chip of the selected profile.
struct Fidelity {
  enum class Kind : std::uint8_t {
    exact,        // bit-identical
    bounded,      // within a stated error
    modelled,     // follows a published model, not compared with a chip
    own,          // specific to this device: clocks, locations, hardware names
    unsupported,  // fails when it is executed
  };
  Kind kind = Kind::exact;
  std::string_view reason;  // why it is not exact
};
inline constexpr std::size_t fidelity_kind_count = 5;

// What work that a kernel's thread launched (ChildLaunched) comes after, besides that launch.
struct LaunchOrigin {
  std::uint64_t parent = 0;              // launch number of that thread; 0: launched by the host
  std::span<const std::uint64_t> after;  // launches by the same parent, which have ended
  bool tail = false;                     // it comes after the parent and all its other launches
};

// A launch. Events name it by `launch` and its instructions by index.
struct Kernel {
  std::uint64_t launch = 0;  // launch number in the process
  std::string_view name;     // as in PTX (mangled)
  int device = 0;
  std::uint64_t stream = 0;
  Extents grid, block, cluster;
  std::uint32_t static_shared = 0, dynamic_shared = 0;  // bytes
  bool cooperative = false;
  std::uint64_t grid_barrier = 0;  // address of the word of grid_group::sync(); 0: it has none
  bool may_copy_tensors = true;    // false: none of its instructions is a tensor copy
  LaunchOrigin origin;
  std::span<const std::string_view> families;  // of instructions: "integer", "load", "branch"...
  // Describes the instruction of a Who. Too slow to call for every event: call it for findings.
  Instruction (*describe)(const Kernel&, std::uint32_t instruction) = nullptr;
  // The variable that contains `address`: a shared, global or constant variable, a parameter, or a
  // local variable of the function that contains `instruction`. Local addresses count from the
  // start of that function's frame (Access::frame). Also too slow for every event.
  Variable (*variable)(const Kernel&, Space, std::uint64_t address,
                       std::uint32_t instruction) = nullptr;
  // Whether every thread, before it ends, reaches a point after `instruction` (of the kernel's own
  // function) that never leads back to it. An exited thread has then gone past the instruction and
  // did not return early.
  bool (*all_pass_behind)(const Kernel&, std::uint32_t instruction) = nullptr;
  // Whether a thread at `instruction` has left `before` behind for good: a path leads from that to
  // this one, and none back. False if one of them is not in the kernel's own function.
  bool (*has_left)(const Kernel&, std::uint32_t before, std::uint32_t instruction) = nullptr;
  // Calls hook(to, instruction, fidelity) for every instruction of the kernel and its callees.
  using FidelityHook = void (*)(void* to, std::uint32_t instruction, const Fidelity&);
  void (*fidelities)(const Kernel&, void* to, FidelityHook hook) = nullptr;
  const void* context = nullptr;  // private to the machine, for the functions above
};

// The threads of an event: lanes of one warp of one block, at one instruction.
struct Who {
  std::uint64_t launch = 0;
  std::uint64_t block = 0;  // linear index in the grid, whose shape is in Kernel
  std::uint32_t warp = 0;   // in the block: linear thread indices warp*32 to warp*32+31
  Mask mask = 0;
  std::uint32_t instruction = nothing;
};

}  // namespace inflight::check
