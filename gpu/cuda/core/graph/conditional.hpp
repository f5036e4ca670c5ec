// Conditional nodes: a value that kernels set, and the body graphs that it selects (CUDA
// Programming Guide, "Conditional Graph Nodes").
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/cuda/core/base/abi.hpp"
#include "gpu/cuda/core/base/status.hpp"

namespace inflight::cuda {

class Graph;

// The word of device memory that a cudaGraphConditionalHandle names.
class Condition {
 public:
  // Makes one on `device`. With `is_default`, each launch of the graph resets it to `value`.
  static Result<std::shared_ptr<Condition>> make(int device, std::uint32_t value, bool is_default);
  ~Condition();
  Condition(const Condition&) = delete;

  std::uint64_t handle() const { return address_; }
  std::uint32_t value() const;
  void begin() const;  // called when a launch of the graph begins

 private:
  Condition(std::uint64_t address, std::uint32_t initial, bool is_default)
      : address_(address), default_(initial), is_default_(is_default) {}
  const std::uint64_t address_;
  const std::uint32_t default_;
  const bool is_default_;
};

struct Conditional {
  enum class Kind : int { if_, while_, switch_ };  // cudaGraphConditionalNodeType
  Kind kind = Kind::if_;
  std::shared_ptr<Condition> condition;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::vector<void*> handles;  // of the bodies, as the program gets them

  ~Conditional();
  // The body to run next. `bodies.size()`: none.
  std::size_t chosen() const;
  std::shared_ptr<Conditional> clone() const;
};

// A handle for conditional nodes of the graph, on the current device.
Status make_condition(std::uint64_t* place, const void* graph, unsigned value, unsigned flags);
// Makes a node of the graph from its parameters and stores the handles of its empty bodies in them
// (invalid_value: the condition was made for a graph that does not enclose this one).
Result<std::shared_ptr<Conditional>> make_conditional(abi::ConditionalNode& node,
                                                      const std::shared_ptr<Graph>& graph);

}  // namespace inflight::cuda
