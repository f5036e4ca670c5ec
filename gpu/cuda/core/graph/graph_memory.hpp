// Memory of graphs' allocation nodes. Addresses are assigned when nodes are made; the memory behind
// them is reserved when a graph is launched (CUDA guide, "Graph Memory Nodes").
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/queue/stream.hpp"

namespace inflight::cuda {

class Graph;
struct Node;

// A range of addresses in one graph. Allocations whose lifetimes do not overlap may share a range.
struct GraphRange;
// Reserved memory behind ranges of graphs, in multiples of 32 MiB.
struct GraphReserve;

// The memory of one allocation node. Its address is fixed when the node is made. It lives as long
// as the graph or an instantiated graph refers to it, and until it is freed.
class GraphMemory : public std::enable_shared_from_this<GraphMemory> {
 public:
  // For a node that depends on `after` in `graph`: takes over the range of an allocation that is
  // freed before it, or takes a new one. Address 0: out of memory. Hold graph_mutex().
  static std::shared_ptr<GraphMemory> make(const Graph& graph, const std::vector<Node*>& after,
                                           int device, std::uint64_t bytes);
  // The same for the next node of `stream`'s capture.
  static std::shared_ptr<GraphMemory> make(const Stream& stream, int device, std::uint64_t bytes);
  // The latest allocation at `address`, or null.
  static std::shared_ptr<GraphMemory> find(std::uint64_t address);

  static void forget(int device);  // the device is reset

  // Frees an allocation that a graph launch made and did not free. False: it is not live.
  bool end();

  const int device;
  const std::uint64_t bytes;
  std::uint64_t address = 0;
  // The type of memory that the node requests. Managed memory is the device's all the same, as on
  // an H100.
  int requested_type = abi::allocation_pinned;

 private:
  friend class GraphReservation;
  GraphMemory(int device, std::uint64_t bytes) : device(device), bytes(bytes) {}
  void set_live(bool live);
  std::shared_ptr<GraphRange> range_;
  bool live_ = false;
};

// Memory that a device holds for graphs, in bytes (cudaGraphMemAttr…).
struct GraphMemoryTotals {
  std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
};
GraphMemoryTotals graph_memory_totals(int device);
// cudaDeviceGetGraphMemAttribute and cudaDeviceSetGraphMemAttribute (invalid_value). A high-water
// mark can only be set to 0, which resets it to the current amount.
Status get_graph_memory_attribute(int device, int which, void* value);
Status set_graph_memory_attribute(int device, int which, const void* value);
// Frees reserved memory that no running graph and no live allocation uses.
void trim_graph_memory(int device);

// The memory of one launch, reserved before it and held until it is done. A launch reuses what
// earlier launches in the same stream, or launches that are done, have reserved.
class GraphReservation {
 public:
  struct Step {
    std::shared_ptr<GraphMemory> memory;
    bool allocates;  // or frees
  };
  // `steps` are in launch order. If `frees_first`, live allocations of an earlier launch are freed
  // first. Otherwise they are an error (invalid_value). out_of_memory.
  Status take(const std::vector<Step>& steps, const Stream& stream, bool frees_first);
  void launched(const Ticket& ticket);

 private:
  std::vector<std::shared_ptr<GraphReserve>> reserves_;
};

}  // namespace inflight::cuda
