// What kernels that launch kernels ask of whoever launched them (CUDA Programming Guide, "CUDA
// Dynamic Parallelism").
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/machine/config/launch.hpp"

namespace inflight::machine {

// What a kernel changes of a node of a graph that is its own kernel's or another one's
// (cudaGraphKernelNodeUpdate).
struct NodeUpdate {
  enum class Field : std::uint8_t { grid, parameters, enabled };
  std::uint64_t node = 0;  // its handle for kernels
  Field field = Field::grid;
  Dim3 grid;
  std::uint64_t offset = 0;  // into its parameters
  std::vector<std::byte> value;
  bool enabled = true;
};

// Thread-safe. It lives as long as the launch and all that comes of it.
class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  // A launch of this kernel but for its shape, its arguments and its descent.
  virtual Launch launch_of(const Kernel& kernel) = 0;
  // A number as launches have, for a copy or a fill.
  virtual std::uint64_t next_number() = 0;
  // How many launches of a grid may be pending (cudaLimitDevRuntimePendingLaunchCount).
  virtual std::uint64_t pending_limit() = 0;
  virtual int device_count() = 0;
  // By cudaDeviceAttr's and cudaLimit's numbers; nothing: there is none of that number.
  virtual std::optional<int> attribute(int number, int device) = 0;
  virtual std::optional<std::uint64_t> limit(int number) = 0;
  // cudaFuncAttributes of a kernel, byte for byte; how many blocks of it a multiprocessor holds.
  virtual std::vector<std::byte> attributes(const Kernel& kernel) = 0;
  virtual std::optional<int> resident_blocks(const Kernel& kernel, int threads,
                                             std::uint64_t dynamic_shared) = 0;
  // Launches a graph into one of cudaGraphLaunch's streams, and changes nodes of graphs:
  // cudaError's number.
  virtual int launch_graph(std::uint64_t graph, std::uint64_t stream) = 0;
  virtual int update(const std::vector<NodeUpdate>& updates) = 0;
  // Threads of the kernel do nothing but look at memory.
  virtual void polls() = 0;
  // A cudaError's name or sentence, where kernels can read it.
  virtual std::uint64_t error_text(int code, bool name) = 0;
};

}  // namespace inflight::machine
