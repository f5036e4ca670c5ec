// Recordings at the begin of a kernel. Each has its own task count, which becomes complete when it
// is reached.
#include "gpu/cuda/core/stream/at_begin.hpp"

#include <algorithm>

namespace inflight::cuda {
namespace {

// The number that listeners see: that of the work in front, or 1 if there is none.
std::uint64_t number_for(const Ticket& in_front) {
  return std::max<std::uint64_t>(in_front.number, 1);
}

}  // namespace

AtBegin::AtBegin(const Ticket& in_front)
    : count_(std::make_shared<TaskCount>(in_front.count->stream, number_for(in_front) - 1)),
      recording_(std::make_shared<Recording>()) {
  recording_->ticket = {count_, number_for(in_front)};
}

void AtBegin::reach() {
  if (reached_.exchange(true)) return;
  recording_->reached = std::chrono::steady_clock::now();
  count_->finish_one();
}

void BehindKernel::all_begun() {
  if (event_) event_->reach();
  if (behind_ && behind_->awaits_begin()) behind_->all_begun();
}

}  // namespace inflight::cuda
