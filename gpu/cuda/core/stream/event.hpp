// An event: the latest place in a stream where it was recorded, and when that place was reached.
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

  void record(Stream& stream);
  // Records here and now: what an event-record node of a running graph does.
  void mark();
  // The latest recording, or null if there is none: such an event counts as complete.
  std::shared_ptr<const Recording> latest() const;
  bool done() const;
  void synchronize() const;
  Device& device() const { return device_; }

  const bool timing, blocking_sync, interprocess;
  Context* const context = current_context();  // that it was made in; null: the primary one
  // Where a capturing stream recorded it, else null. Guarded by capture_mutex().
  std::shared_ptr<Capture> capture;
  std::vector<struct Node*> captured_nodes;  // the graph's nodes that it stands for

 private:
  Device& device_;
  mutable std::mutex mutex_;
  std::shared_ptr<Recording> latest_;
};

// Milliseconds from `start` to `end` (invalid_handle: no timing or never recorded; not_ready).
Result<float> elapsed(const Event& start, const Event& end);

}  // namespace inflight::cuda
