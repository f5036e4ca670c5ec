// An event: where in a stream it was last recorded, and when the stream reached that place.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "gpu/cuda/core/queue/context.hpp"
#include "gpu/cuda/core/queue/edge.hpp"
#include "gpu/cuda/core/queue/stream.hpp"
#include "gpu/cuda/core/sharing/event.hpp"

namespace inflight::cuda {

// The result of one cudaEventRecord.
struct Recording {
  Ticket ticket;
  std::weak_ptr<const Stream> stream;  // the stream it is recorded in
  std::atomic<std::chrono::steady_clock::time_point> reached{};
  std::uint64_t number = 0;                      // for an event that processes share
  std::shared_ptr<const SharedEvent> elsewhere;  // another process's recording has no ticket

  bool done() const;
  // Waits until it is done or `cancel` is true.
  void wait(const std::atomic<bool>& cancel) const;
};

class Event {
 public:
  // `shared`: the state shared with other processes, or null.
  Event(Device& device, bool timing, bool blocking_sync,
        std::shared_ptr<SharedEvent> shared = nullptr, bool imported = false)
      : timing(timing),
        blocking_sync(blocking_sync),
        imported(imported),
        shared(std::move(shared)),
        device_(device) {}

  Ticket record(Stream& stream);
  // Makes a recording the latest one. Something else completes it.
  void record(std::shared_ptr<Recording> recording);
  // Records the event as reached now, as a node does in a graph that a kernel launched.
  void mark();
  // The latest recording by any process. Null if there is none, and the event then counts as
  // complete.
  std::shared_ptr<const Recording> latest() const;
  bool done() const;
  void synchronize() const;
  Device& device() const { return device_; }

  const bool timing, blocking_sync;
  const bool imported;  // another process made it
  const std::shared_ptr<SharedEvent> shared;
  const ContextRef context{current_context()};  // where it was created; null: the primary one
  // The capture in which it was last recorded, else null. Guarded by graph_mutex().
  std::shared_ptr<Capture> capture;
  std::vector<Node*> captured_nodes;  // the graph's nodes that a wait for it depends on,
  EdgeKinds captured_kinds;           // and the kinds of those edges

 private:
  Device& device_;
  mutable std::mutex mutex_;
  std::shared_ptr<Recording> latest_;
};

// Makes the stream's later work wait for the event's latest recording, if there is one.
void wait_for_latest(Stream& stream, const Event& event);

// Milliseconds from `start` to `end` (invalid_handle: no timing or never recorded; not_ready).
Result<float> elapsed(const Event& start, const Event& end);

}  // namespace inflight::cuda
