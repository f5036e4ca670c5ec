// Events that a launch records once all blocks of its kernel have begun (the attribute
// LaunchCompletionEvent).
#pragma once
#include <atomic>
#include <memory>

#include "gpu/cuda/core/stream/event.hpp"
#include "gpu/machine/config/dependency.hpp"

namespace inflight::cuda {

// One such recording. It is reached at the latest when the kernel's work is destroyed, whether it
// is done or never began.
class AtBegin {
 public:
  // A wait for the recording is also ordered after `in_front`, the work that the kernel comes
  // after.
  explicit AtBegin(const Ticket& in_front);
  ~AtBegin() { reach(); }
  AtBegin(const AtBegin&) = delete;
  void reach();
  const std::shared_ptr<Recording>& recording() const { return recording_; }

 private:
  const std::shared_ptr<TaskCount> count_;
  const std::shared_ptr<Recording> recording_;
  std::atomic<bool> reached_{false};
};

// Notifies both the work behind a kernel and a recording at its begin. Either may be null.
class BehindKernel final : public machine::Dependents {
 public:
  BehindKernel(machine::Dependents* behind, AtBegin* event) : behind_(behind), event_(event) {}
  void requested() override {
    if (behind_) behind_->requested();
  }
  void may_begin() override {
    if (behind_) behind_->may_begin();
  }
  bool awaits_begin() const override { return event_ || (behind_ && behind_->awaits_begin()); }
  void all_begun() override;

 private:
  machine::Dependents* const behind_;
  AtBegin* const event_;
};

}  // namespace inflight::cuda
