// Recordings that part of a stream's work completes. Each has its own task count, which becomes
// complete when it is reached.
#include "gpu/cuda/core/queue/inner_recording.hpp"

#include <algorithm>
#include <utility>

namespace inflight::cuda {
namespace {

// The number that listeners see: that of the work before, or 1 if there is none.
std::uint64_t number_for(const Ticket& in_front) {
  return std::max<std::uint64_t>(in_front.number, 1);
}

}  // namespace

InnerRecording::InnerRecording(const Ticket& in_front, std::shared_ptr<SharedEvent> shared)
    : count_(std::make_shared<TaskCount>(in_front.count->stream, number_for(in_front) - 1)),
      shared_(std::move(shared)),
      recording_(std::make_shared<Recording>()) {
  recording_->ticket = {count_, number_for(in_front)};
  if (shared_) recording_->number = shared_->begin();
}

void InnerRecording::reach() {
  if (reached_.exchange(true)) return;
  recording_->reached = std::chrono::steady_clock::now();
  if (shared_) shared_->finish(recording_->number);
  count_->finish_one();
}

void BehindKernel::all_begun() {
  if (event_) event_->reach();
  if (behind_ && behind_->awaits_begin()) behind_->all_begun();
}

}  // namespace inflight::cuda
