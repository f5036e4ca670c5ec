// A launch as the caller describes it: kernel, shape, memory, parameters.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/texture/table.hpp"

namespace inflight::machine {

struct Kernel;     // link/program.hpp
class Dependents;  // config/dependency.hpp
class Prerequisites;
class DeviceRuntime;  // config/device_runtime.hpp

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

// The first cycle of a device's clock. Its low word is small, so that programs which keep 32 bits
// see no wrap.
inline constexpr std::uint64_t first_cycle = 1ull << 32;

// The origin of a launch by a thread of another launch.
struct LaunchOrigin {
  std::uint64_t parent = 0;                 // the other launch's number; 0: launched by the host
  std::vector<std::uint64_t> after;         // numbers of its parent's launches that it waits for
  bool tail = false;                        // it waits for the parent and all its other launches
  unsigned depth = 0;                       // nesting depth
  const std::atomic<bool>* stop = nullptr;  // set if the parent ends early, which ends this too
};

// The grids of one launch on several devices.
struct Grids {
  std::uint64_t barrier = 0;  // address of their barrier's 32 bits, which all devices reach
  std::uint32_t rank = 0;     // of this grid
  std::uint32_t count = 0;    // 0: launched alone
};

struct Launch {
  const Kernel* kernel = nullptr;
  Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared = 0;       // bytes
  std::uint32_t shared_granule = 1;       // a block's shared memory ends at a multiple of it
  std::uint32_t shared_optin = 48 << 10;  // allowed by cudaFuncSetAttribute for this function
  std::uint32_t cluster_optin = 16;       // blocks of a cluster, likewise
  bool cooperative = false;
  Grids grids;
  std::vector<std::byte> parameters;          // laid out as Kernel::parameters says
  std::uint64_t id = 0;                       // counts launches, for messages and %gridid
  std::uint64_t stream = 0;                   // only for events
  std::uint64_t graph = 0;                    // its graph (%current_graph_exec); 0: none
  const std::atomic<bool>* cancel = nullptr;  // set by another thread to end the launch early
  // The textures and surfaces that handles mean; null: there are none.
  std::shared_ptr<const texture::Table> textures;
  // The device's clock (run/clock.hpp): the launch starts at its value and sets it to its end.
  // Null: there is no other launch.
  std::atomic<std::uint64_t>* clock = nullptr;
  Dependents* dependents = nullptr;        // null: none
  Prerequisites* prerequisites = nullptr;  // null: all earlier grids have ended
  DeviceRuntime* runtime = nullptr;        // null: its kernel cannot launch others
  LaunchOrigin origin;
};

}  // namespace inflight::machine
