// Of which launch an event is, of which threads, and at which instruction.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace inflight::check {

using Mask = std::uint32_t;  // bit l: lane l of the warp
inline constexpr std::uint32_t lanes = 32;
inline constexpr std::uint32_t nothing = 0xffffffff;  // an absent index

enum class Space : std::uint8_t { global, shared, local, constant, param };
inline constexpr std::uint32_t space_count = 5;

// A line of the source.
struct SourceLine {
  std::string_view file;
  std::uint32_t line = 0, column = 0;
};

// One instruction of a kernel, or of a function it calls.
struct Instruction {
  std::string_view text;       // the opcode as written: "ld.global.f32"
  std::uint32_t family = 0;    // index in Kernel::families
  std::uint32_t ptx_line = 0;  // from 1
  std::string_view file;       // of -lineinfo; empty without
  std::uint32_t line = 0, column = 0;
  std::string_view function;           // where it stands, after inlining
  std::vector<SourceLine> inlined_at;  // the calls that inlining replaced, the innermost first
};

// A variable that an address lies in. Without a name: nothing is known of it.
struct Variable {
  std::string_view name;  // as in PTX (mangled)
  std::uint64_t address = 0, bytes = 0;
};

struct Extents {
  std::uint32_t x = 1, y = 1, z = 1;
};

// How near what an instruction gives is to what the chip of this profile gives.
struct Fidelity {
  enum class Kind : std::uint8_t {
    exact,        // equal to the bit
    bounded,      // within an error that is stated
    modelled,     // by a published model that was compared with no chip
    own,          // the value is this device's own: clocks, places, names of hardware
    unsupported,  // refused where it is reached
  };
  Kind kind = Kind::exact;
  std::string_view reason;  // why it is not exact
};
inline constexpr std::size_t fidelity_kind_count = 5;

// Of what a thread of a kernel has launched (ChildLaunched): what it comes after, besides that.
struct Descent {
  std::uint64_t parent = 0;  // the launch that the thread is of; 0: the host launched it
  std::span<const std::uint64_t> after;  // launches of the same parent, which have ended
  bool tail = false;                     // the parent, and all else that it has launched
};

// A launch. Events name it by `launch` and its instructions by index.
struct Kernel {
  std::uint64_t launch = 0;  // counts the process's launches
  std::string_view name;     // as in PTX (mangled)
  int device = 0;
  std::uint64_t stream = 0;
  Extents grid, block, cluster;
  std::uint32_t static_shared = 0, dynamic_shared = 0;  // bytes
  bool cooperative = false;
  Descent descent;
  std::span<const std::string_view> families;  // of instructions: "integer", "load", "branch"...
  // Resolves Who::instruction. Cheap enough for a finding, not for every event.
  Instruction (*describe)(const Kernel&, std::uint32_t instruction) = nullptr;
  // Which shared, global or constant variable of the program, which parameter, or which local
  // variable of the function of `instruction` it is; in local memory, addresses count from where
  // that function's frame begins (Access::frame). For findings, too.
  Variable (*variable)(const Kernel&, Space, std::uint64_t address,
                       std::uint32_t instruction) = nullptr;
  // Does every thread that ends pass a point behind `instruction`, of the kernel's own function,
  // from which none comes back to it? Who has ended has then gone past it, and not returned before
  // it.
  bool (*all_pass_behind)(const Kernel&, std::uint32_t instruction) = nullptr;
  // Calls hook(to, instruction, fidelity) for every instruction of the kernel and of what it calls.
  using FidelityHook = void (*)(void* to, std::uint32_t instruction, const Fidelity&);
  void (*fidelities)(const Kernel&, void* to, FidelityHook hook) = nullptr;
  const void* context = nullptr;  // the machine's, for all
};

// The threads that did something: lanes of one warp of one block, at one instruction.
struct Who {
  std::uint64_t launch = 0;
  std::uint64_t block = 0;  // linear index in the grid; Kernel has the shape
  std::uint32_t warp = 0;   // in the block: threads warp*32 ... warp*32+31, linear
  Mask mask = 0;
  std::uint32_t instruction = nothing;
};

}  // namespace inflight::check
