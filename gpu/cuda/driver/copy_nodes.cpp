// The parameters of graph nodes that copy, in the driver's form and in the one that graphs keep.
#include "gpu/cuda/core/calls/copy_nodes.hpp"

#include <any>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/driver/copy.hpp"

namespace inflight::cuda::driver {
namespace {

// The types of memory that a direction says. Arrays have their own.
MemoryType source_type(Direction direction) {
  if (direction == Direction::by_address) return MemoryType::unified;
  return direction == Direction::device_to_host || direction == Direction::device_to_device
             ? MemoryType::device
             : MemoryType::host;
}
MemoryType target_type(Direction direction) {
  if (direction == Direction::by_address) return MemoryType::unified;
  return direction == Direction::host_to_device || direction == Direction::device_to_device
             ? MemoryType::device
             : MemoryType::host;
}

Direction direction_between(MemoryType from, MemoryType to) {
  if (from == MemoryType::unified || to == MemoryType::unified) return Direction::by_address;
  if (from == MemoryType::host)
    return to == MemoryType::host ? Direction::host_to_host : Direction::host_to_device;
  return to == MemoryType::host ? Direction::device_to_host : Direction::device_to_device;
}

Side3D driver_side(void* array, const abi::Position& at, const abi::PitchedPointer& memory,
                   MemoryType type) {
  Side3D side{};
  side.x = at.x * unit_of(array), side.y = at.y, side.z = at.z;
  side.type = array ? MemoryType::array : type;
  if (array) {
    side.array = array;
    return side;
  }
  if (type == MemoryType::host)
    side.host = memory.pointer;
  else
    side.device = address_of(memory.pointer);
  side.pitch = memory.pitch, side.height = memory.height;
  return side;
}

Copy3D driver_form(const abi::Copy3D& box) {
  const auto direction = Direction(box.kind);
  return {driver_side(box.from_array, box.from_position, box.from, source_type(direction)),
          driver_side(box.to_array, box.to_position, box.to, target_type(direction)),
          box.extent.width * unit_of(box.to_array ? box.to_array : box.from_array),
          box.extent.height, box.extent.depth};
}

void set_runtime_side(const Side3D& side, void*& array, abi::Position& position,
                      abi::PitchedPointer& memory) {
  array = side.type == MemoryType::array ? side.array : nullptr;
  position = {side.x / unit_of(array), side.y, side.z};
  if (array) return;
  void* const start = side.type == MemoryType::host ? const_cast<void*>(side.host)
                                                    : pointer_to(std::uint64_t(side.device));
  memory = {start, side.pitch, 0, side.height};
}

abi::Copy3D runtime_form(const Copy3D& box) {
  abi::Copy3D result{};
  set_runtime_side(box.from, result.from_array, result.from_position, result.from);
  set_runtime_side(box.to, result.to_array, result.to_position, result.to);
  const std::size_t unit = unit_of(result.to_array ? result.to_array : result.from_array);
  result.extent = {box.width / unit, box.height, box.depth};
  result.kind = int(direction_between(box.from.type, box.to.type));
  return result;
}

// True if no direction says the types of both sides.
bool has_no_direction(const Copy3D& box) {
  const auto is = [](const Side3D& side, MemoryType type) { return side.type == type; };
  const bool arrays = is(box.from, MemoryType::array) || is(box.to, MemoryType::array);
  return !arrays && is(box.from, MemoryType::unified) != is(box.to, MemoryType::unified);
}

}  // namespace

Result<Work> work_of(const Copy3D* box) {
  if (!box) return fail(Status::invalid_value);
  auto copy = box_of(*box);
  if (!copy) return tl::unexpected(copy.error());
  std::optional<abi::Copy3D> parameters;
  if (!has_no_direction(*box)) parameters = runtime_form(*box);
  return copy_node_work(std::move(*copy), {parameters, *box});
}

Status get_copy_node(const void* handle, Copy3D* place) {
  const auto node = copy_node(handle);
  if (!node) return node.error().status;
  const auto* const own = std::any_cast<Copy3D>(&node->as_given);
  return store_value(place, own ? *own : driver_form(*node->parameters));
}

}  // namespace inflight::cuda::driver
