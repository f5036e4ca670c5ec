// Copies and fills: CUDA's checks, and the transfers themselves.
#include "gpu/cuda/core/memory/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "gpu/cuda/core/graph/capture.hpp"
#include "gpu/cuda/core/memory/addresses.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/memory/reserved.hpp"
#include "gpu/cuda/core/memory/synchronous.hpp"
#include "gpu/cuda/core/report/call.hpp"
#include "gpu/cuda/core/report/observer.hpp"
#include "gpu/cuda/core/sharing/before_launch.hpp"
#include "gpu/cuda/core/stream/work.hpp"
#include "gpu/cuda/core/texture/array.hpp"
#include "gpu/machine/memory/ranges.hpp"

namespace inflight::cuda {
namespace {

// Copies of up to this size from pageable memory return before the stream reaches them (CUDA
// runtime API, "API synchronization behavior").
constexpr std::uint64_t staged_bytes = 64 << 10;

bool is_multicast(const void* pointer) {
  return Core::get().memory.multicasts().contains(address_of(pointer));
}

// Why a side of a transfer cannot be used, for the report of the call.
Status refuse_side(const void* pointer, const ByteBox& box, bool written) {
  const std::string side =
      fmt::format("{} ({})", written ? "the destination" : "the source", pointer);
  const auto range = box.at(address_of(pointer));
  const auto why = [&]() -> std::string {
    if (!pointer)
      return fmt::format("{} is a null pointer", written ? "the destination" : "the source");
    if (!range) return fmt::format("{} and the size pass the end of the address space", side);
    if (is_multicast(pointer))
      return fmt::format("{} is an address of a multicast object, which this call cannot {}", side,
                         written ? "write to" : "read");
    const auto allocation = Core::get().memory.find(range->base());
    if (!allocation)
      return fmt::format(
          "{} is in no allocation of a device: {}", side,
          is_unmapped(range->base()) ? "nothing is there" : "it is the host's memory");
    return fmt::format(
        "{} has {} bytes up to the end of its allocation of {} bytes at {:#x}, but {} are to be {}",
        side, machine::range_of(*allocation).end() - range->base(), allocation->size,
        allocation->base, range->bytes(), written ? "written" : "read");
  };
  Call::because(why());
  return Status::invalid_value;
}

// Checks that one side of a transfer lies in one allocation, or in plain host memory if allowed. A
// multicast object can only be written to.
Status check_side(const void* pointer, const ByteBox& box, bool must_be_ours, bool written) {
  const auto range = box.at(address_of(pointer));
  const auto good = [&] {
    if (!pointer || !range) return false;
    if (is_multicast(pointer)) return written && !multicast_places(*range).empty();
    const auto allocation = Core::get().memory.find(range->base());
    return allocation ? machine::range_of(*allocation).contains(*range)
                      : !must_be_ours && !is_unmapped(range->base());
  };
  return good() ? Status::success : refuse_side(pointer, box, written);
}

bool may_access(const Device& device, const void* side) {
  if (Core::get().device_count() == 1) return true;
  const auto found = Core::get().memory.find(address_of(side));
  return !found || found->reach == 0 || found->reach >> device.ordinal & 1 || !pool_of(found->base);
}

bool contiguous(const Copy& copy) {
  const bool rows = copy.width == copy.to_pitch && copy.width == copy.from_pitch;
  const bool slices = copy.height == copy.to_rows && copy.height == copy.from_rows;
  return copy.depth == 1 ? copy.height == 1 || rows : rows && slices;
}

void fill_row(char* row, const Fill& fill) {
  if (fill.element == 1) {
    std::memset(row, int(fill.value), fill.width);
    return;
  }
  for (std::uint64_t i = 0; i < fill.width; ++i)
    std::memcpy(row + i * fill.element, &fill.value, fill.element);
}

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

// A synchronous call for device memory alone returns before it is done (CUDA runtime API, "API
// synchronization behavior").
bool returns_early(std::initializer_list<const void*> sides) {
  return std::none_of(sides.begin(), sides.end(), [](const void* side) {
    return host_accesses(side) || always_synchronous(side);
  });
}

// A copy between arrays, or between an array and memory. Positions and extent count the array's
// texels.
Result<Copy> array_copy_of(const abi::Copy3D& box) {
  const auto array = find_array(box.to_array ? box.to_array : box.from_array);
  if (!array) return fail(Status::invalid_handle);
  const auto bytes = [texel = array->image.format.bytes()](std::size_t texels) {
    return (Checked(texels) * texel).saturated();
  };
  const auto side = [&](const void* handle, const abi::PitchedPointer& pointer,
                        const abi::Position& at) {
    return CopySide{handle, pointer, bytes(at.x), at.y, at.z};
  };
  return array_copy(side(box.to_array, box.to, box.to_position),
                    side(box.from_array, box.from, box.from_position), bytes(box.extent.width),
                    box.extent.height, box.extent.depth, direction_of(box.kind));
}

}  // namespace

bool knows_memory(const void* address) {
  return Core::get().memory.find(address_of(address)) || is_multicast(address);
}

bool pageable(const void* address) {
  return !knows_memory(address) && !is_unmapped(address_of(address));
}

std::vector<machine::MulticastSpan::Place> multicast_places(const ByteRange& range) {
  if (Core::get().memory.multicasts().empty()) return {};
  call_launch_hook();
  return Core::get().memory.multicasts().places(range.base(), range.bytes());
}

char* place_in(const abi::PitchedPointer& memory, const abi::Position& at) {
  const Checked row = Checked(at.z) * memory.height + at.y;
  const Checked place = address_of(memory.pointer) + row * Checked(memory.pitch) + at.x;
  return static_cast<char*>(pointer_to(place.value_or(0)));
}

void note_sides(Copy& copy) {
  copy.to_known |= knows_memory(copy.to);
  copy.from_known |= knows_memory(copy.from);
}

Direction direction_of(int kind) {
  return kind < 0 || kind > int(Direction::by_address) ? Direction(0xff) : Direction(kind);
}

Result<Copy> copy_of(const abi::Copy3D* box) {
  if (!box) return fail(Status::invalid_value);
  const auto ambiguous = [](const void* array, const abi::PitchedPointer& memory) {
    return (array != nullptr) == (memory.pointer != nullptr);
  };
  const bool empty = !box->extent.width || !box->extent.height || !box->extent.depth;
  if (!empty && (ambiguous(box->from_array, box->from) || ambiguous(box->to_array, box->to)))
    return fail(Status::invalid_value);
  if (box->from_array || box->to_array) return array_copy_of(*box);
  return Copy{.to = place_in(box->to, box->to_position),
              .from = place_in(box->from, box->from_position),
              .width = box->extent.width,
              .height = box->extent.height,
              .depth = box->extent.depth,
              .to_pitch = box->to.pitch,
              .to_rows = box->to.height,
              .from_pitch = box->from.pitch,
              .from_rows = box->from.height,
              .direction = direction_of(box->kind)};
}

Status check(const Copy& copy) {
  if (copy.direction > Direction::by_address) {
    Call::because("the direction is no cudaMemcpyKind");
    return Status::invalid_direction;
  }
  const bool rows = copy.height > 1 || copy.depth > 1;
  if (rows && (copy.to_pitch < copy.width || copy.from_pitch < copy.width)) {
    Call::because(fmt::format("rows of {} bytes do not fit into a pitch of {} bytes", copy.width,
                              std::min(copy.to_pitch, copy.from_pitch)));
    return Status::invalid_pitch;
  }
  if (copy.empty()) return Status::success;
  if (copy.depth > 1 && (copy.to_rows < copy.height || copy.from_rows < copy.height))
    return Status::invalid_value;
  const bool to_device =
      copy.direction == Direction::host_to_device || copy.direction == Direction::device_to_device;
  const bool from_device =
      copy.direction == Direction::device_to_host || copy.direction == Direction::device_to_device;
  Status to = check_side(copy.to, copy.destination(), to_device, true);
  if (to != Status::success) return to;
  return check_side(copy.from, copy.source(), from_device, false);
}

Status check(const Fill& fill) {
  if (fill.element != 1 && fill.element != 2 && fill.element != 4) return Status::invalid_value;
  if (fill.empty()) return Status::success;
  // Slices that lie in each other could be any number.
  if (fill.depth > 1 && fill.rows < fill.height) return Status::invalid_value;
  const ByteBox box = fill.destination();
  if ((fill.height > 1 || fill.depth > 1) && fill.pitch < box.bytes) return Status::invalid_value;
  if (address_of(fill.to) % fill.element != 0) return Status::invalid_value;
  return check_side(fill.to, box, true, true);
}

Status check_access(const Copy& copy, const Device& device) {
  if (copy.empty() || copy.between_peers) return Status::success;
  return may_access(device, copy.to) && may_access(device, copy.from) ? Status::success
                                                                      : Status::invalid_value;
}

Status check_access(const Fill& fill, const Device& device) {
  return may_access(device, fill.to) ? Status::success : Status::invalid_value;
}

bool check_again(const Copy& copy, Device& device) {
  const bool freed =
      (copy.to_known && !knows_memory(copy.to)) || (copy.from_known && !knows_memory(copy.from));
  if (copy.empty() || (!freed && check(copy) == Status::success)) return true;
  device.kill(Status::illegal_address,
              fmt::format("A copy of {} bytes from {} to {} uses memory that was freed after the "
                          "program asked for the copy; order the two.",
                          copy.bytes(), copy.from, copy.to));
  return false;
}

bool check_again(const Fill& fill, Device& device) {
  if (check(fill) == Status::success) return true;
  device.kill(Status::illegal_address,
              fmt::format("A fill of the {} bytes at {} uses memory that was freed after the "
                          "program asked for the fill; order the two.",
                          written(fill).bytes(), fill.to));
  return false;
}

void perform(const Copy& copy) {
  auto* to = static_cast<char*>(copy.to);
  auto* from = static_cast<const char*>(copy.from);
  if (copy.empty()) return;
  if (contiguous(copy)) {
    std::memmove(to, from, copy.bytes());
    return;
  }
  const ByteBox written = copy.destination(), read = copy.source();
  for (std::uint64_t z = 0; z < copy.depth; ++z)
    for (std::uint64_t y = 0; y < copy.height; ++y)
      std::memmove(to + written.offset(z, y), from + read.offset(z, y), copy.width);
}

void perform(const Fill& fill) {
  if (fill.empty()) return;
  const ByteBox box = fill.destination();
  for (std::uint64_t z = 0; z < box.slices; ++z)
    for (std::uint64_t y = 0; y < box.rows; ++y)
      fill_row(static_cast<char*>(fill.to) + box.offset(z, y), fill);
}

namespace {

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
    {
      const PrintfFifo::Waiting waiting(stream.device().printed);
      stream.run([&] { perform(Work(work), stream); });
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
