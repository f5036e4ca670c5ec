// Begin and end of launches, blocks and threads, faults, and counts over a launch.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "gpu/async/violation.hpp"
#include "gpu/check/events/copies.hpp"
#include "gpu/check/events/synchronisation.hpp"

namespace inflight::check {

// An instruction is about to execute for `who.mask`. Used by timelines.
struct Executed {
  Who who;
  std::uint32_t family = 0;  // index in Kernel::families
};

// Counts over a launch, for statistics. They are reported after the launch has ended, before its
// KernelEnd and on the same host thread, in parts to be added.

// Instructions that executed equally often.
struct RunCount {
  const Kernel* kernel = nullptr;
  std::span<const std::uint32_t> instructions, families;  // as in Who and Executed, equally long
  std::uint64_t warps = 0, threads = 0;  // executions of each, per warp and per thread
  std::uint64_t in_host_code = 0;        // of `warps`, by host code
};

// How often a load, store, atomic or reduction accessed one space.
struct AccessCount {
  const Kernel* kernel = nullptr;
  std::uint32_t instruction = nothing;
  Space space = Space::global;
  Access::Kind kind = Access::Kind::load;
  std::uint32_t bytes = 0;  // per thread
  std::uint64_t warps = 0, threads = 0;
};

// Counts for some of its blocks.
struct BlockCount {
  const Kernel* kernel = nullptr;
  std::uint64_t blocks = 0;
  std::uint64_t divergent_branches = 0;                      // counted per warp
  std::array<std::uint64_t, barrier_kind_count> barriers{};  // completed, by BarrierKind
  // Copies of threads, and the bytes that they write, by Completion.
  std::array<std::uint64_t, completion_count> copies{}, copied_bytes{};
  // Arrivals of threads, phases completed by operations, and tests and waits of threads.
  std::uint64_t mbarrier_arrivals = 0, mbarrier_phases = 0, mbarrier_tests = 0;
  std::uint64_t host_code_entries = 0;  // times that a warp has entered it
};

struct KernelBegin {
  const Kernel* kernel = nullptr;
};

// How another engine than the interpreter runs a kernel.
struct HostCode {
  std::string_view why_not;                     // why it does not; empty: it does
  std::uint32_t instructions = 0, handled = 0;  // compiled, and left to their handlers
  std::uint32_t entries = 0;                    // places where it is entered
  std::uint64_t bytes = 0, microseconds = 0;    // how large it is, and how long making it took
};

struct KernelEnd {
  const Kernel* kernel = nullptr;
  bool faulted = false;
  const HostCode* host_code = nullptr;  // null: only the interpreter was to run the launch
};

// A thread launches a kernel, copy or fill, which is ordered after what the thread has done.
struct ChildLaunched {
  Who who;
  std::uint64_t child = 0;  // its number: Kernel::launch or HostAccess::launch
};

struct BlockBegin {
  const Kernel* kernel = nullptr;
  std::uint64_t block = 0;    // linear
  std::uint64_t cluster = 0;  // linear index
  std::uint16_t rank = 0;     // in the cluster
  std::uint32_t threads = 0;
  std::uint32_t shared_bytes = 0;  // static and dynamic, starting at offset 1024
};
struct BlockEnd {
  const Kernel* kernel = nullptr;
  std::uint64_t block = 0;
};

struct ThreadExit {
  Who who;
};

// An illegal operation of threads, which mostly ends the kernel. Reported when it happens, while
// the launch runs.
struct Fault {
  enum class Kind : std::uint8_t {
    outside,        // an access to memory that is not allocated or not accessible
    misaligned,     // an address that violates the alignment of the instruction
    address_space,  // an address in a space that the instruction cannot access
    peer,           // shared memory of a cluster block that has ended or does not exist
    barrier,        // invalid use of a barrier, mbarrier or collective
    tensor_map,     // an invalid tensor map, or a copy that its map does not allow
    unsupported,    // an instruction or a function that this machine cannot execute
    other,          // a trap, a failed assertion, a call to an address without a function...
  };
  Who who;
  Kind kind = Kind::other;
  std::string_view name;      // of the fault: "assertion failed"
  std::string_view sentence;  // what is wrong
  bool ends = true;           // false: the kernel goes on
  // The broken rule, if it is one of tensor copies.
  async::Violation rule = async::Violation::none;
  bool unallocated = false;  // it uses columns of tensor memory that are not allocated
  // If `access`: the fault is due to an address. These describe the access of the first lane.
  bool access = false, writes = false;
  Space space = Space::global;
  std::uint64_t address = 0, bytes = 0, alignment = 0;  // 0: unknown; alignment: required
  std::uint16_t rank = 0;                               // shared: cluster rank of the owner
  // The allocation at the address or nearest to it. In global memory it may be live or released. In
  // other spaces it is all memory of the block, thread or kernel. Zero bytes: there is none.
  Allocation nearest;
  // Where in the host's own memory the address is: "on the host's stack". Empty: not there.
  std::string_view host_place;
};

}  // namespace inflight::check
