// Turns faults, waits and deadlocks into text.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gpu/machine/config/launch.hpp"
#include "gpu/machine/link/numbering.hpp"
#include "gpu/machine/report/outcome.hpp"

namespace inflight::machine {

// "assertion failed"
std::string_view headline(FaultKind kind);

// A fault and the threads that it stopped.
struct Fault {
  FaultKind kind = FaultKind::none;
  std::string_view kernel;  // its name in the PTX
  std::string what;         // what went wrong
  Place at;                 // without a module if unknown
  // The calls that the threads are inside, the innermost first, and their number. If there are
  // many, the last is the kernel's own and some before it are left out.
  std::vector<Place> callers;
  std::uint32_t depth = 0;
  Dim3 thread, block;   // of the first thread
  unsigned others = 0;  // more threads of its warp
  Dim3 grid_shape, block_shape;
};
inline constexpr std::size_t most_callers = 16;  // in one report, besides the kernel's own
std::string to_text(const Fault& fault);

// The kinds of waits.
struct BarrierWait {
  std::uint64_t id = 0;
  std::uint32_t arrived = 0, expected = 0;  // threads
  auto operator<=>(const BarrierWait&) const = default;
};
struct MbarrierWait {
  std::uint64_t offset = 0;  // in shared memory
  bool inside = false;       // it is inside the block's shared memory, and `word` is valid
  std::uint64_t word = 0;
  auto operator<=>(const MbarrierWait&) const = default;
};
struct CollectiveWait {
  std::uint32_t members = 0, missing = 0;  // lanes
  auto operator<=>(const CollectiveWait&) const = default;
};
struct ClusterWait {
  std::uint64_t arrived = 0, alive = 0;  // threads
  auto operator<=>(const ClusterWait&) const = default;
};
struct WarpgroupWait {
  std::uint32_t first = 0, missing = 0;  // its first warp; a mask of the missing warps
  auto operator<=>(const WarpgroupWait&) const = default;
};
struct RegistersWait {
  std::uint32_t more = 0, left = 0;  // needed per thread; in the pool, per thread of one warp
  auto operator<=>(const RegistersWait&) const = default;
};
struct ColumnsWait {
  std::uint32_t wanted = 0, free = 0;  // columns of tensor memory
  auto operator<=>(const ColumnsWait&) const = default;
};
struct SleepWait {
  auto operator<=>(const SleepWait&) const = default;
};
struct GridsWait {
  auto operator<=>(const GridsWait&) const = default;
};
struct EndlessLoop {
  bool computes = true;  // it neither accesses memory nor waits
  auto operator<=>(const EndlessLoop&) const = default;
};
using Awaited =  // monostate: nothing, they can run
    std::variant<std::monostate, BarrierWait, MbarrierWait, CollectiveWait, ClusterWait,
                 WarpgroupWait, RegistersWait, ColumnsWait, SleepWait, GridsWait, EndlessLoop>;

// Threads of a block with the same wait.
struct WaitingThreads {
  std::uint32_t count = 0, lanes = 0;  // `lanes` of each warp
  std::vector<std::uint32_t> warps;
  Awaited awaited;
  Place at;
};
struct BlockWaits {
  Dim3 block;
  std::uint32_t alive = 0, threads = 0;
  std::vector<WaitingThreads> groups;
};
std::string to_text(const BlockWaits& waits);

// Blocks in which no thread can ever run again.
struct Deadlock {
  std::string_view kernel;
  bool cluster = false;  // it has several blocks, some of which may have ended
  Dim3 first;            // its first block
  std::vector<BlockWaits> blocks;
};
std::string to_text(const Deadlock& deadlock);

// The shortest text that identifies the place: the source line, else the PTX line.
std::string to_text(const Place& place);

}  // namespace inflight::machine
