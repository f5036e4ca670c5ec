// Memory of graphs' allocation nodes: addresses that are planned when nodes are made, and what a
// device reserves for graphs that run (CUDA guide, "Graph Memory Nodes").
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/cuda/core/report/status.hpp"
#include "gpu/cuda/core/stream/stream.hpp"

namespace inflight::cuda {

class Graph;
struct Node;

// A range of addresses in one graph. Allocations that never live together may share it.
struct GraphRange;
// Memory behind the ranges of graphs, counted in whole steps.
struct GraphReserve;

// The memory of one allocation node. Its address is fixed when the node is made, and it lasts as
// long as the graph, what was instantiated from it, and until it is freed.
class GraphMemory : public std::enable_shared_from_this<GraphMemory> {
 public:
  // For a node that waits for `after` in `graph`: the address of an allocation that is freed before
  // it, or a fresh one. address 0: out of memory. Hold graph_mutex().
  static std::shared_ptr<GraphMemory> make(const Graph& graph, const std::vector<Node*>& after,
                                           int device, std::uint64_t bytes);
  // For the next node of the capture that `stream` takes part in.
  static std::shared_ptr<GraphMemory> make(const Stream& stream, int device, std::uint64_t bytes);
  // The latest that was planned at `address`, or null.
  static std::shared_ptr<GraphMemory> find(std::uint64_t address);

  static void forget(int device);  // the device is reset

  // Ends an allocation that a graph left behind. False: it is not live.
  bool end();

  const int device;
  const std::uint64_t bytes;
  std::uint64_t address = 0;

 private:
  friend class GraphReservation;
  GraphMemory(int device, std::uint64_t bytes) : device(device), bytes(bytes) {}
  void set_live(bool live);
  std::shared_ptr<GraphRange> range_;
  bool live_ = false;
};

// What a device holds for graphs, in bytes (cudaGraphMemAttr…).
struct GraphMemoryTotals {
  std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
};
GraphMemoryTotals graph_memory_totals(int device);
// cudaDeviceGetGraphMemAttribute and its twin (invalid_value). A mark is set to 0 only: it then
// starts from what is held now.
Status get_graph_memory_attribute(int device, int which, void* value);
Status set_graph_memory_attribute(int device, int which, const void* value);
// Gives back what no graph that runs and no allocation left behind needs.
void trim_graph_memory(int device);

// The memory of one launch: reserved before it, held until it is done. Reserves are shared between
// graphs of one stream, and with those that are done.
class GraphReservation {
 public:
  struct Step {
    std::shared_ptr<GraphMemory> memory;
    bool allocates;  // or frees
  };
  // `steps` in launch order. With `frees_first`, what an earlier launch left behind is freed; else
  // it is invalid_value to allocate it again. out_of_memory.
  Status take(const std::vector<Step>& steps, const Stream& stream, bool frees_first);
  void launched(const Ticket& ticket);

 private:
  std::vector<std::shared_ptr<GraphReserve>> reserves_;
};

}  // namespace inflight::cuda
