// Adds work to a capture or queues it.
#include "gpu/cuda/core/calls/submit.hpp"

#include <cstdlib>

#include "gpu/cuda/core/calls/capture_rules.hpp"
#include "gpu/cuda/core/calls/streams.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/green/green_context.hpp"

namespace inflight::cuda {
namespace {

// CUDA_LAUNCH_BLOCKING (CUDA guide, "CUDA Environment Variables"): a launch returns when its kernel
// has ended, and returns the kernel's error.
bool launches_block() {
  static const bool block = [] {
    const char* const text = std::getenv("CUDA_LAUNCH_BLOCKING");
    return text && std::atoi(text) != 0;
  }();
  return block;
}

}  // namespace

Status submit(Stream& stream, Work work) {
  if (auto* const kernel = std::get_if<KernelWork>(&work)) kernel->partition = partition_of(stream);
  if (auto* const copy = std::get_if<Copy>(&work)) note_sides(*copy);
  if (Status status = check(work, stream.device()); status != Status::success) return status;
  if (const auto captured = capture_work(stream, work)) return *captured;
  if (Status status = allowed_now(stream); status != Status::success) return status;
  if (std::holds_alternative<KernelWork>(work)) stream.device().printed.flush();
  // A stream of an H200 queues 3,000 host functions without blocking the caller, and 1,024 pieces
  // of other work.
  const auto when_full =
      std::holds_alternative<HostWork>(work) ? Stream::WhenFull::grow : Stream::WhenFull::wait;
  const auto* kernel = std::get_if<KernelWork>(&work);
  const auto begins =
      kernel && kernel->programmatic ? Stream::Begins::early_too : Stream::Begins::in_order;
  const bool awaited = kernel && launches_block() && !Stream::on_worker();
  if (kernel)
    stream.submit(stream_kernel(std::move(work), stream), begins);
  else
    stream.submit([work = std::move(work), &stream] { perform(work, stream); }, {}, when_full);
  return awaited ? synchronize(stream) : Status::success;
}

}  // namespace inflight::cuda
