// Kernels that begin before the one in front of them has ended (CUDA guide, "Programmatic Dependent
// Launch").
//
// With --async late, and so by default, none does, which every program must bear as well. With
// early, a kernel begins as soon as it may: while the last block in front that lets it begin stands
// still until the new one can go no further, so that a forgotten griddepcontrol.wait shows.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "gpu/cuda/core/stream/stream.hpp"
#include "gpu/machine/config/dependency.hpp"

namespace inflight::cuda {

// What is in front of a kernel that began early.
class InFront final : public machine::Prerequisites {
 public:
  explicit InFront(Ticket ticket) : ticket_(std::move(ticket)) {}
  bool complete() const override { return ticket_.done(); }
  void rest(unsigned workers) override;
  // The kernel has ended.
  void ended();
  // Returns when it has, or can go no further, or after a second: it may poll for ever.
  void wait_settled();

 private:
  Ticket ticket_;
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned resting_ = 0;
  bool settled_ = false;
};

// Where the kernel that this thread is doing stands.
struct Standing {
  machine::Prerequisites* in_front = nullptr;  // null: all that it comes after has ended
  machine::Dependents* behind = nullptr;
  bool dependent = false;  // the kernel in front let others begin before its end

  static const Standing& now();
  // Does `body` where this is so.
  void within(const std::function<void()>& body) const;
};

// Does --async let the `number`-th piece of work begin early?
bool begins_early(std::uint64_t number);

// A kernel that began early, on a thread of its own.
struct Early {
  std::shared_ptr<InFront> in_front;
  std::thread thread;
};
// It waits for `ticket` where it asks for that.
Early begin_early(const Ticket& ticket, std::function<void(InFront&)> body);

}  // namespace inflight::cuda
