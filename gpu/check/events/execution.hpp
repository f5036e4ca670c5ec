// Launches, blocks and threads as they begin and end, faults, and sums over a launch.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "gpu/check/events/copies.hpp"
#include "gpu/check/events/synchronisation.hpp"

namespace inflight::check {

// An instruction is about to execute for `who.mask`. For timelines.
struct Executed {
  Who who;
  std::uint32_t family = 0;  // index in Kernel::families
};

// What a launch did, in sums, for statistics: told once it has ended, in parts that add up, before
// its KernelEnd and on the same thread.

// Instructions that executed equally often.
struct RunCount {
  const Kernel* kernel = nullptr;
  std::span<const std::uint32_t> instructions, families;  // as Who's and Executed's, one each
  std::uint64_t warps = 0, threads = 0;  // each of them: once a warp, by so many lanes
};

// A load, store, atomic or reduction, in one space.
struct AccessCount {
  const Kernel* kernel = nullptr;
  std::uint32_t instruction = nothing;
  Space space = Space::global;
  Access::Kind kind = Access::Kind::load;
  std::uint32_t bytes = 0;  // each thread
  std::uint64_t warps = 0, threads = 0;
};

// What some of its blocks did.
struct BlockCount {
  const Kernel* kernel = nullptr;
  std::uint64_t blocks = 0;
  std::uint64_t divergent_branches = 0;                      // a warp's
  std::array<std::uint64_t, barrier_kind_count> barriers{};  // completed, by BarrierKind
  // Threads' copies, and what they write, by Completion.
  std::array<std::uint64_t, completion_count> copies{}, copied_bytes{};
  // Threads' arrivals; phases that operations completed; threads' tests and waits.
  std::uint64_t mbarrier_arrivals = 0, mbarrier_phases = 0, mbarrier_tests = 0;
};

struct KernelBegin {
  const Kernel* kernel = nullptr;
};
struct KernelEnd {
  const Kernel* kernel = nullptr;
  bool faulted = false;
};

// A thread launches a kernel, a copy or a fill, which begins after what the thread has done.
struct ChildLaunched {
  Who who;
  std::uint64_t child = 0;  // its number, as Kernel::launch or HostAccess::launch
};

struct BlockBegin {
  const Kernel* kernel = nullptr;
  std::uint64_t block = 0;    // linear
  std::uint64_t cluster = 0;  // linear index of its cluster
  std::uint16_t rank = 0;     // in its cluster
  std::uint32_t threads = 0;
  std::uint32_t shared_bytes = 0;  // static and dynamic, from offset 1024
};
struct BlockEnd {
  const Kernel* kernel = nullptr;
  std::uint64_t block = 0;
};

struct ThreadExit {
  Who who;
};

// What ends a kernel: threads did what none may. Told where it happens, while the launch runs.
struct Fault {
  enum class Kind : std::uint8_t {
    outside,        // an access where there is no memory that it may touch
    misaligned,     // an address that the instruction does not allow
    address_space,  // an address in a space that the instruction cannot access
    peer,           // shared memory of a block of the cluster that has ended, or that there is not
    barrier,        // a barrier, an mbarrier or a collective in a way that it does not allow
    tensor_map,     // a tensor map that cannot be used, or a copy that its map does not allow
    other,          // a trap, a failed assertion, a call to what is no function...
  };
  Who who;
  Kind kind = Kind::other;
  std::string_view sentence;  // what is wrong
  // Of one that an address made, else `access` is false: the first lane's.
  bool access = false, writes = false;
  Space space = Space::global;
  std::uint64_t address = 0, bytes = 0, alignment = 0;  // 0: not known; alignment: that it needs
  std::uint16_t rank = 0;                               // of shared memory: whose
  // What lies there or nearest: in global memory an allocation, live or released; of the other
  // spaces, all that the block, thread or kernel has. No bytes: there is none.
  Allocation nearest;
};

}  // namespace inflight::check
