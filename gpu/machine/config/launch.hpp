// A launch as its caller describes it: kernel, shape, memory, parameters.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/texture/table.hpp"

namespace inflight::machine {

struct Kernel;  // link/program.hpp
class Dependents;  // config/dependency.hpp
class Prerequisites;
class DeviceRuntime;  // config/device_runtime.hpp

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

// Where a device's clock begins, in cycles. Its low word is small, so that programs which keep 32
// bits see no wrap.
inline constexpr std::uint64_t first_cycle = 1ull << 32;

// Of a launch that a thread of another one asked for.
struct Descent {
  std::uint64_t parent = 0;          // the other launch's number; 0: the host asked for it
  std::vector<std::uint64_t> after;  // launches of the same parent, by number, that it comes after
  bool tail = false;   // it comes after the parent and all else that that has launched
  unsigned depth = 0;  // of nesting
  const std::atomic<bool>* stop = nullptr;  // set where the parent ends early, and this with it
};

struct Launch {
  const Kernel* kernel = nullptr;
  Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared = 0;       // bytes
  std::uint32_t shared_granule = 1;       // a block's shared memory ends at a multiple of it
  std::uint32_t shared_optin = 48 << 10;  // what cudaFuncSetAttribute allowed this function
  std::uint32_t cluster_optin = 16;       // blocks of a cluster that it allowed, likewise
  bool cooperative = false;
  std::vector<std::byte> parameters;          // laid out as Kernel::parameters says
  std::uint64_t id = 0;                       // counts launches, for messages and %gridid
  std::uint64_t stream = 0;                   // for events only
  std::uint64_t graph = 0;                    // that it is a node of (%current_graph_exec); 0: none
  const std::atomic<bool>* cancel = nullptr;  // set by another thread to end the launch early
  // What handles of textures and surfaces mean; null: there are none.
  std::shared_ptr<const texture::Table> textures;
  // The device's clock (run/clock.hpp): the launch begins then and sets it to its end. Null:
  // nobody launches another.
  std::atomic<std::uint64_t>* clock = nullptr;
  Dependents* dependents = nullptr;        // null: nobody cares
  Prerequisites* prerequisites = nullptr;  // null: all that it comes after has ended
  DeviceRuntime* runtime = nullptr;        // null: its kernel cannot launch others
  Descent descent;
};

}  // namespace inflight::machine
