// Kernels that begin before the previous one has ended (CUDA guide, "Programmatic Dependent
// Launch").
//
// With --async late, the default, no kernel does; every program must also work that way. With
// early, a kernel begins as soon as it may. The last block before it that allows this then
// pauses until the new kernel can go no further, so that a missing griddepcontrol.wait shows.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "gpu/cuda/core/queue/stream.hpp"
#include "gpu/machine/config/dependency.hpp"

namespace inflight::cuda {

// The work before a kernel that began early.
class InFront final : public machine::Prerequisites {
 public:
  explicit InFront(Ticket ticket) : ticket_(std::move(ticket)) {}
  bool complete() const override { return ticket_.done(); }
  void rest(unsigned workers) override;
  // Called when the kernel has ended.
  void ended();
  // Returns when the kernel has ended or can go no further, or after a second, because it may poll
  // forever.
  void wait_settled();

 private:
  Ticket ticket_;
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned resting_ = 0;
  bool settled_ = false;
};

// The work before and after the kernel that this thread runs.
struct Standing {
  machine::Prerequisites* in_front = nullptr;  // null: all of it has ended
  machine::Dependents* behind = nullptr;
  bool dependent = false;     // the previous kernel allowed an early begin
  bool programmatic = false;  // the launch, or an edge of its graph, allows one

  static const Standing& now();
  // Runs `body` with this as now().
  void within(const std::function<void()>& body) const;
};

// True if --async lets the `number`-th piece of work begin early.
bool begins_early(std::uint64_t number);

// A kernel that began early, on its own thread.
struct Early {
  std::shared_ptr<InFront> in_front;
  std::thread thread;
};
// Starts `body`, whose griddepcontrol.wait waits for `ticket`.
Early begin_early(const Ticket& ticket, std::function<void(InFront&)> body);

}  // namespace inflight::cuda
