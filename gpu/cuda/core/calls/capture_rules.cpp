// Invalidates the captures that a call disturbs.
#include "gpu/cuda/core/calls/capture_rules.hpp"

#include <algorithm>

#include "gpu/cuda/core/graph/capture.hpp"

namespace inflight::cuda {
namespace {

bool disturbs(const Capture& capture) {
  if (capture_mode() == CaptureMode::relaxed) return false;
  if (capture.thread == std::this_thread::get_id() && capture.mode != CaptureMode::relaxed)
    return true;
  return capture_mode() == CaptureMode::global && capture.mode == CaptureMode::global;
}

// Invalidates the captures that `hit` accepts. Returns `status` if there was one.
template <class Hit>
Status invalidate_where(Hit hit, Status status) {
  if (none_captures()) return Status::success;
  std::lock_guard lock(graph_mutex());
  Status result = Status::success;
  for (const auto& capture : captures())
    if (hit(*capture)) result = invalidate(*capture, status);
  return result;
}

bool in_device(const Capture& capture, const Device& device) {
  return std::any_of(capture.tips.begin(), capture.tips.end(),
                     [&](const auto& each) { return &each.first->device() == &device; });
}

}  // namespace

Status unsafe_in_capture() {
  return invalidate_where(
      [](const Capture& c) { return disturbs(c) || c.mode != CaptureMode::global; },
      Status::capture_implicit);
}

Status allowed_in_capture() { return invalidate_where(disturbs, Status::capture_unsupported); }

Status allowed_now(const Stream& stream) {
  if (stream.kind() != Stream::Kind::legacy) return Status::success;
  return invalidate_where([&](const Capture& c) { return has_blocking_stream(c, stream.device()); },
                          Status::capture_implicit);
}

Status not_captured(const Stream& stream) {
  return invalidate_where([&](const Capture& c) { return stream.capture.get() == &c; },
                          Status::capture_unsupported);
}

Status waitable(const Stream& stream) {
  if (Status status = not_captured(stream); status != Status::success) return status;
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  return allowed_now(stream);
}

Status waitable(const Event& event) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  return invalidate_where([&](const Capture& c) { return event.capture.get() == &c; },
                          Status::captured_event);
}

Status device_waitable(const Device& device) {
  return invalidate_where([&](const Capture& c) { return in_device(c, device); },
                          Status::capture_unsupported);
}

}  // namespace inflight::cuda
