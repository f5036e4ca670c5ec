// Recordings of events that part of a stream's work completes: a kernel once all its blocks have
// begun (the attribute LaunchCompletionEvent), or a node of a graph.
#pragma once
#include <atomic>
#include <memory>

#include "gpu/cuda/core/queue/event.hpp"
#include "gpu/machine/config/dependency.hpp"

namespace inflight::cuda {

// One such recording. It is reached at the latest when the work is destroyed, whether it is done or
// never began.
class InnerRecording {
 public:
  // A wait for the recording is also ordered after `in_front`, the work that this work comes after.
  explicit InnerRecording(const Ticket& in_front, std::shared_ptr<SharedEvent> shared = nullptr);
  ~InnerRecording() { reach(); }
  InnerRecording(const InnerRecording&) = delete;
  void reach();
  const std::shared_ptr<Recording>& recording() const { return recording_; }

 private:
  const std::shared_ptr<TaskCount> count_;
  const std::shared_ptr<SharedEvent> shared_;
  const std::shared_ptr<Recording> recording_;
  std::atomic<bool> reached_{false};
};

// Notifies both the work after a kernel and a recording at its begin. Either may be null.
class BehindKernel final : public machine::Dependents {
 public:
  BehindKernel(machine::Dependents* behind, InnerRecording* event)
      : behind_(behind), event_(event) {}
  void requested() override {
    if (behind_) behind_->requested();
  }
  void may_begin() override {
    if (behind_) behind_->may_begin();
  }
  bool awaits_begin() const override { return event_ || (behind_ && behind_->awaits_begin()); }
  void all_begun() override;
  machine::NextLaunch* prepare_next() override {
    return behind_ ? behind_->prepare_next() : nullptr;
  }

 private:
  machine::Dependents* const behind_;
  InnerRecording* const event_;
};

}  // namespace inflight::cuda
