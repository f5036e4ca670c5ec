// One piece of work: what a stream does next, and what a node of a graph holds.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "gpu/cuda/core/core.hpp"
#include "gpu/cuda/core/graph/graph_memory.hpp"
#include "gpu/cuda/core/memory/transfer.hpp"

namespace inflight::cuda {

// A launch with its arguments packed as the kernel's parameter buffer.
struct KernelWork {
  std::shared_ptr<Function> function;
  int device = 0;
  const void* host = nullptr;  // what the program named it by, to be given back
  machine::Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared = 0;  // bytes
  bool cooperative = false;
  bool programmatic = false;  // may start before the kernel in front of it has ended
  std::vector<std::byte> parameters;
  int priority = 0;
};
struct HostWork {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
};
struct EmptyWork {};
struct RecordWork {
  std::shared_ptr<Event> event;
};
struct WaitWork {
  std::shared_ptr<Event> event;
};
struct ChildWork {
  std::shared_ptr<Graph> graph;
};
struct AllocateWork {
  std::shared_ptr<GraphMemory> memory;
};
struct FreeWork {
  std::shared_ptr<GraphMemory> memory;  // of a graph, or null:
  std::uint64_t address = 0;            // what claim_free() marked
};
using Work = std::variant<KernelWork, Copy, Fill, HostWork, ChildWork, EmptyWork, WaitWork,
                          RecordWork, AllocateWork, FreeWork>;

// Checks `work` as CUDA does at the call; success or the code to answer. Kernels: shape, shared
// memory, cooperative size, clusters, and that the machine can run them.
Status check(const Work& work, Device& device);

// Does it, on the calling thread; a fault kills the device's context.
void perform(const Work& work, Stream& stream);

// In stream order, or into the graph that the stream captures. Checks first.
Status submit(Stream& stream, Work work);

}  // namespace inflight::cuda
