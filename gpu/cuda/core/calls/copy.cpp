// When a copy or fill returns, and what becomes of pageable memory.
#include "gpu/cuda/core/calls/copy.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/calls/capture_rules.hpp"
#include "gpu/cuda/core/calls/submit.hpp"
#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/memory/synchronous.hpp"

namespace inflight::cuda {
namespace {

// Copies of up to this size from pageable memory return before the stream reaches them (CUDA
// runtime API, "API synchronization behavior").
constexpr std::uint64_t staged_bytes = 64 << 10;

// What the host does about pageable memory before the copy is queued.
enum class Staging { none, snapshot, wait };
Staging staging_of(const Copy& copy) {
  const bool from_host = pageable(copy.from), to_host = pageable(copy.to);
  if (to_host) return Staging::wait;
  if (!from_host) return Staging::none;
  return copy.bytes() <= staged_bytes ? Staging::snapshot : Staging::wait;
}

// Packs the copy's source bytes into a buffer, from which the copy reads from now on.
std::shared_ptr<std::vector<char>> snapshot(Copy& copy) {
  auto bytes = std::make_shared<std::vector<char>>(copy.bytes());
  Copy packing = copy;
  packing.to = bytes->data();
  packing.to_pitch = copy.width;
  packing.to_rows = copy.height;
  const machine::HostView::Access open(Core::get().memory.host_view());
  perform(packing);
  copy.from = bytes->data();
  copy.from_pitch = copy.width;
  copy.from_rows = copy.height;
  copy.from_known = false;
  copy.direction = Direction::by_address;
  return bytes;
}

// True if the host can access the memory. A synchronous copy or fill of such memory returns when it
// is done.
bool host_accesses(const void* memory) {
  const auto found = Core::get().memory.find(address_of(memory));
  return pageable(memory) || (found && (found->kind == machine::AllocationKind::host ||
                                        found->kind == machine::AllocationKind::managed));
}

bool is_device_memory(const void* memory) {
  const auto found = Core::get().memory.find(address_of(memory));
  return found && found->kind != machine::AllocationKind::host &&
         found->kind != machine::AllocationKind::managed;
}

// A synchronous call for device memory alone returns before it is done (CUDA runtime API, "API
// synchronization behavior").
bool returns_early(std::initializer_list<const void*> sides) {
  return std::none_of(sides.begin(), sides.end(), [](const void* side) {
    return host_accesses(side) || always_synchronous(side);
  });
}

// The legacy streams of other devices between which a copy in a legacy stream copies. It is ordered
// like work of theirs, before what they get later and behind what they got (CUDA guide,
// "Peer-to-Peer Memory Copy"; recorded in tests/kernels/copy_between_null_streams.cu).
class OtherNullStreams {
 public:
  OtherNullStreams(const Stream& stream, const Copy& copy) {
    if (stream.kind() != Stream::Kind::legacy || Core::get().device_count() == 1) return;
    for (const void* const side : {static_cast<const void*>(copy.to), copy.from}) {
      const auto found = Core::get().memory.find(address_of(side));
      if (!found || found->kind != machine::AllocationKind::device) continue;
      if (found->device == stream.device().ordinal) continue;
      const auto other = Core::get().device(found->device).legacy();
      if (std::find(streams_.begin(), streams_.end(), other) == streams_.end())
        streams_.push_back(other);
    }
  }
  // To wait for.
  std::vector<Ticket> reached() const {
    std::vector<Ticket> tickets;
    for (const auto& other : streams_) tickets.push_back(other->mark([] {}));
    return tickets;
  }
  void wait_for(const Ticket& copy) const {
    for (const auto& other : streams_) other->mark([] {}, {copy});
  }

 private:
  std::vector<std::shared_ptr<Stream>> streams_;
};

}  // namespace

Status copy(Stream& stream, const Copy& request, bool asynchronous, SourceOrder order) {
  Copy work = request;
  note_sides(work);
  if (Status status = check(request); status != Status::success) return status;
  if (Status status = check_access(request, current_device()); status != Status::success)
    return status;
  if (capturing(stream)) {
    if (!asynchronous) return unsafe_in_capture();
    Work node = request;
    if (const auto captured = capture_work(stream, node)) return *captured;
  }
  if (Status status = allowed_now(stream); status != Status::success) return status;
  if (request.empty() && asynchronous) return Status::success;
  const bool waits = !asynchronous && !returns_early({request.to, request.from});
  Staging staging = waits ? Staging::wait : staging_of(request);
  if (asynchronous && order == SourceOrder::during_call && !pageable(request.to))
    staging = Staging::snapshot;
  work.awaited = waits;
  if (staging == Staging::wait) {
    work.staged = pageable(request.from) && is_device_memory(request.to);
    {
      const PrintfFifo::Waiting waiting(stream.device().printed);
      stream.run([&] { perform(Work(work), stream); }, work.staged);
    }
    return stream.device().fault();
  }
  std::shared_ptr<std::vector<char>> staged;
  if (staging == Staging::snapshot) staged = snapshot(work);
  const OtherNullStreams others(stream, work);
  others.wait_for(
      stream.submit([work, staged, &stream] { perform(Work(work), stream); }, others.reached()));
  return Status::success;
}

Status fill(Stream& stream, const Fill& request, bool asynchronous) {
  if (Status status = check(request); status != Status::success) return status;
  if (capturing(stream) && !asynchronous) return unsafe_in_capture();
  Fill work = request;
  work.asynchronous = asynchronous;
  const Status status = submit(stream, work);
  if (asynchronous || status != Status::success) return status;
  if (returns_early({request.to})) return status;
  stream.synchronize();
  return stream.device().fault();
}

}  // namespace inflight::cuda
