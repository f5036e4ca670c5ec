// Graph operations by kernels of a running graph: launches of graphs, and changes of nodes.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gpu/cuda/core/base/status.hpp"
#include "gpu/cuda/core/work/work.hpp"
#include "gpu/machine/config/device_runtime.hpp"

namespace inflight::cuda {

class GraphExec;

// What kernels do in one graph launch. Thread-safe.
class GraphKernels {
 public:
  // cudaStreamGraph... handles in device code.
  static constexpr std::uint64_t tail_stream = 1ull << 56, detached_stream = 2ull << 56,
                                 sibling_stream = 3ull << 56;
  virtual ~GraphKernels() = default;
  virtual std::uint64_t graph() const = 0;  // handle in kernels (%current_graph_exec), or 0
  // Launches a graph from a kernel of step `step`.
  virtual Status launch(std::uint64_t graph, std::uint64_t stream, std::uint64_t step) = 0;
  // Called when a kernel's threads do nothing but poll memory.
  virtual void note_polling() = 0;
  // Called before a step begins, because listeners must see one step at a time.
  virtual void join_concurrent() = 0;

  // While this object lives, its thread runs this step of this graph launch.
  struct Here {
    Here(GraphKernels& launch, std::uint64_t step);
    ~Here();
    Here(const Here&) = delete;
    GraphKernels& launch;
    const std::uint64_t step;
    const Here* const before;
  };
  static const Here* here();  // the innermost one, or null
};

// A kernel node that kernels may change (cudaLaunchAttributeDeviceUpdatableKernelNode).
class UpdatableNode {
 public:
  static std::shared_ptr<UpdatableNode> make();
  ~UpdatableNode();
  UpdatableNode(const UpdatableNode&) = delete;

  // The handle in kernels.
  std::uint64_t handle() const { return reinterpret_cast<std::uintptr_t>(this); }
  // Makes it a node of `exec`. False: it belongs to another executable graph that still exists.
  bool take(const std::shared_ptr<GraphExec>& exec, const KernelWork& work);
  void release();
  // Changes by the host.
  void set(const KernelWork& work);
  void enable(bool enabled);
  // The current work. Empty: the node is disabled.
  std::optional<KernelWork> now() const;

  // A change by a kernel: whether it is possible, and the change itself (invalid_value: there is no
  // such node or field).
  static Status check(const machine::NodeUpdate& update);
  static Status update(const machine::NodeUpdate& update);

 private:
  UpdatableNode() = default;
  Status possible(const machine::NodeUpdate& update) const;  // with the mutex held

  mutable std::mutex mutex_;
  std::weak_ptr<GraphExec> exec_;
  KernelWork work_;
  bool enabled_ = true;
};

}  // namespace inflight::cuda
