// Copies and fills: CUDA's checks, and the transfers themselves.
#include "gpu/cuda/core/memory/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/memory/pool.hpp"
#include "gpu/cuda/core/memory/reserved.hpp"
#include "gpu/cuda/core/report/call.hpp"
#include "gpu/cuda/core/sharing/before_launch.hpp"
#include "gpu/machine/memory/ranges.hpp"

namespace inflight::cuda {
namespace {

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

}  // namespace inflight::cuda
