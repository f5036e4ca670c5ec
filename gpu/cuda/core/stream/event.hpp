// An event: where in a stream it was last recorded, and when the stream got there.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "gpu/cuda/core/context.hpp"
#include "gpu/cuda/core/stream/stream.hpp"

namespace inflight::cuda {

// One cudaEventRecord.
struct Recording {
  Ticket ticket;
  std::atomic<std::chrono::steady_clock::time_point> reached{};
};

class Event {
 public:
  Event(Device& device, bool timing, bool blocking_sync, bool interprocess = false)
      : timing(timing), blocking_sync(blocking_sync), interprocess(interprocess), device_(device) {}

  Ticket record(Stream& stream);
  // Records here and now: what an event-record node of a running graph does.
  void mark();
  // The latest recording; null if there is none, and the event then counts as complete.
  std::shared_ptr<const Recording> latest() const;
  bool done() const;
  void synchronize() const;
  Device& device() const { return device_; }

  const bool timing, blocking_sync, interprocess;
  Context* const context = current_context();  // it was created in; null: the primary one
  // Where a capturing stream recorded it, else null. Guarded by capture_mutex().
  std::shared_ptr<Capture> capture;
  std::vector<struct Node*> captured_nodes;  // of the graph: what a wait for it depends on

 private:
  Device& device_;
  mutable std::mutex mutex_;
  std::shared_ptr<Recording> latest_;
};

// Milliseconds from `start` to `end` (invalid_handle: no timing or never recorded; not_ready).
Result<float> elapsed(const Event& start, const Event& end);

}  // namespace inflight::cuda
