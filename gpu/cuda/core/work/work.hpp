// A piece of work, for a stream or a node of a graph.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "gpu/cuda/core/memory/transfer.hpp"
#include "gpu/cuda/core/modules/function.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/work/library_work.hpp"
#include "gpu/cuda/core/work/value_operations.hpp"
#include "gpu/texture/table.hpp"

namespace inflight::cuda {

class Graph;           // graph/graph.hpp
class GraphMemory;     // graph/graph_memory.hpp
struct Conditional;    // graph/conditional.hpp
struct Partition;      // green/resource.hpp
class UpdatableNode;   // work/graph_kernels.hpp
class InnerRecording;  // queue/inner_recording.hpp
struct Recording;      // queue/event.hpp

// A launch with its arguments packed as the kernel's parameter buffer.
struct KernelWork {
  std::shared_ptr<Function> function;
  // The kernel of work that is about to run. Empty for a graph's node: that of each launch.
  LinkedKernel linked;
  int device = 0;
  const void* host = nullptr;  // the program's handle for it
  machine::Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared = 0;  // bytes
  bool cooperative = false;
  machine::Grids grids;                  // of a launch on several devices
  std::shared_ptr<const void> of_grids;  // keeps what they share
  bool programmatic = false;             // may start before the previous kernel has ended
  std::vector<std::byte> parameters;
  int priority = 0;
  std::shared_ptr<UpdatableNode> updatable;    // if kernels may change the node
  std::shared_ptr<const Partition> partition;  // its green context's; or null
  std::shared_ptr<InnerRecording> at_begin;    // reached once all blocks have begun; or null
  // The objects at the launch, which the kernel may read even if they are destroyed before it runs.
  std::shared_ptr<const texture::Table> textures;  // null for a graph's node: those when it runs
};
struct HostWork {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
};
struct EmptyWork {};
// In a launch from the host, the events of a graph's nodes stand for recordings from then on.
struct RecordWork {
  std::shared_ptr<Event> event;
  std::shared_ptr<InnerRecording> recording = nullptr;  // of this launch; or null
};
struct WaitWork {
  std::shared_ptr<Event> event;
  std::shared_ptr<const Recording> recording = nullptr;  // the latest at the launch; or null
};
struct ChildWork {
  std::shared_ptr<Graph> graph;
};
struct AllocateWork {
  std::shared_ptr<GraphMemory> memory;   // of a graph, or null: reported to listeners
  std::uint64_t address = 0, bytes = 0;  // address 0: out of memory
};
struct FreeWork {
  std::shared_ptr<GraphMemory> memory;  // of a graph, or null:
  std::uint64_t address = 0;            // marked by claim_free()
};
struct ConditionalWork {
  std::shared_ptr<Conditional> node;
};
using Work =
    std::variant<KernelWork, Copy, Fill, HostWork, ChildWork, EmptyWork, WaitWork, RecordWork,
                 AllocateWork, FreeWork, LibraryWork, ConditionalWork, ValueWork>;

// The checks that CUDA makes at the call. For a kernel: shape, shared memory, the size of a
// cooperative grid, clusters, and whether the machine can run it.
Status check(const Work& work, Device& device);

// Does the work on the calling thread. A fault kills the device's context.
void perform(const Work& work, Stream& stream);

// A kernel's work as a task of the stream, which may be prepared before it begins.
std::unique_ptr<KernelTask> stream_kernel(Work&& work, Stream& stream);

}  // namespace inflight::cuda
