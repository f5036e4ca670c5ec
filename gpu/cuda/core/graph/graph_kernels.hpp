// What the kernels of a graph that runs do with graphs: they launch some, and change nodes of
// others.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gpu/cuda/core/report/status.hpp"
#include "gpu/cuda/core/stream/work.hpp"
#include "gpu/machine/config/device_runtime.hpp"

namespace inflight::cuda {

class GraphExec;

// Thread-safe.
class GraphKernels {
 public:
  // cudaStreamGraph... of kernels.
  static constexpr std::uint64_t tail_stream = 1ull << 56, detached_stream = 2ull << 56,
                                 sibling_stream = 3ull << 56;
  virtual ~GraphKernels() = default;
  virtual std::uint64_t graph() const = 0;  // as kernels name it (%current_graph_exec); 0: not
  // By a kernel of step `step`.
  virtual Status launch(std::uint64_t graph, std::uint64_t stream, std::uint64_t step) = 0;
  // A kernel's threads do nothing but look at memory.
  virtual void polls() = 0;
  // Before a step begins: those who listen hear of one step at a time.
  virtual void stand_alone() = 0;

  // The launch of a graph, and its step, that this thread is doing while it lives.
  struct Here {
    Here(GraphKernels& launch, std::uint64_t step);
    ~Here();
    Here(const Here&) = delete;
    GraphKernels& launch;
    const std::uint64_t step;
    const Here* const before;
  };
  static const Here* here();  // null: none
};

// A kernel node that kernels may change (cudaLaunchAttributeDeviceUpdatableKernelNode).
class UpdatableNode {
 public:
  static std::shared_ptr<UpdatableNode> make();
  ~UpdatableNode();
  UpdatableNode(const UpdatableNode&) = delete;

  // As kernels name it.
  std::uint64_t handle() const { return reinterpret_cast<std::uintptr_t>(this); }
  // It is a node of `exec` from now on; false: of another that lives.
  bool take(const std::shared_ptr<GraphExec>& exec, const KernelWork& work);
  void release();
  // By the host.
  void set(const KernelWork& work);
  void enable(bool enabled);
  // Nothing: it is disabled.
  std::optional<KernelWork> now() const;

  // By a kernel (invalid_value: there is no such node or field).
  static Status update(const std::vector<machine::NodeUpdate>& updates);

 private:
  UpdatableNode() = default;
  Status check(const machine::NodeUpdate& update) const;
  void apply(const machine::NodeUpdate& update);

  mutable std::mutex mutex_;
  std::weak_ptr<GraphExec> exec_;
  KernelWork work_;
  bool enabled_ = true;
};

}  // namespace inflight::cuda
