// Services for kernels that launch kernels, provided by the launcher (CUDA Programming Guide, "CUDA
// Dynamic Parallelism").
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gpu/machine/config/launch.hpp"

namespace inflight::machine {

// A change that a kernel makes to a node of a graph, its own or another
// (cudaGraphKernelNodeUpdate).
struct NodeUpdate {
  enum class Field : std::uint8_t { grid, parameters, enabled };
  std::uint64_t node = 0;  // its handle in kernels
  Field field = Field::grid;
  Dim3 grid;
  std::uint64_t offset = 0, bytes = 0;  // of its parameters
  std::vector<std::byte> value;         // for them; empty while it is only checked
  bool enabled = true;
};

// Thread-safe. It lives as long as the launch and all its descendants.
class DeviceRuntime {
 public:
  virtual ~DeviceRuntime() = default;
  // A launch of this kernel without shape, arguments and origin.
  virtual Launch launch_of(const Kernel& kernel) = 0;
  // A launch number, for a copy or a fill.
  virtual std::uint64_t next_number() = 0;
  // The most pending launches of a grid (cudaLimitDevRuntimePendingLaunchCount).
  virtual std::uint64_t pending_limit() = 0;
  virtual int device_count() = 0;
  // By the numbers of cudaDeviceAttr and cudaLimit. Empty: there is no such number.
  virtual std::optional<int> attribute(int number, int device) = 0;
  virtual std::optional<std::uint64_t> limit(int number) = 0;
  // cudaFuncAttributes of a kernel, byte for byte; the number of its blocks that fit a
  // multiprocessor.
  virtual std::vector<std::byte> attributes(const Kernel& kernel) = 0;
  virtual std::optional<int> resident_blocks(const Kernel& kernel, int threads,
                                             std::uint64_t dynamic_shared) = 0;
  // Launches a graph into one of cudaGraphLaunch's streams; says whether a node of a graph can be
  // changed so; changes it. Return a cudaError.
  virtual int launch_graph(std::uint64_t graph, std::uint64_t stream) = 0;
  virtual int check(const NodeUpdate& update) = 0;
  virtual int update(const NodeUpdate& update) = 0;
  // Notifies that threads of the kernel only poll memory.
  virtual void note_polling() = 0;
  // The address of a cudaError's name or description, in memory that kernels can read.
  virtual std::uint64_t error_text(int code, bool name) = 0;
};

}  // namespace inflight::machine
