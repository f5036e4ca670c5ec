// Parameters and work of graph nodes that copy.
#include "gpu/cuda/core/graph/copy_nodes.hpp"

#include "gpu/cuda/core/memory/addresses.hpp"
#include "gpu/cuda/core/store.hpp"
#include "gpu/cuda/core/texture/array.hpp"

namespace inflight::cuda {
namespace {

// The bytes of a position's or an extent's unit: a texel if the copy has an array, else a byte.
std::size_t unit_of(const void* array) {
  const auto found = array ? find_array(array) : nullptr;
  return found ? found->image.format.bytes() : 1;
}

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

DriverSide3D driver_side(void* array, const abi::Position& at, const abi::PitchedPointer& memory,
                         MemoryType type) {
  DriverSide3D side{};
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

DriverCopy3D driver_form(const abi::Copy3D& box) {
  const auto direction = Direction(box.kind);
  return {driver_side(box.from_array, box.from_position, box.from, source_type(direction)),
          driver_side(box.to_array, box.to_position, box.to, target_type(direction)),
          box.extent.width * unit_of(box.to_array ? box.to_array : box.from_array),
          box.extent.height, box.extent.depth};
}
DriverCopy3D driver_form(const DriverCopy3D& box) { return box; }

void set_runtime_side(const DriverSide3D& side, void*& array, abi::Position& position,
                      abi::PitchedPointer& memory) {
  array = side.type == MemoryType::array ? side.array : nullptr;
  position = {side.x / unit_of(array), side.y, side.z};
  if (array) return;
  void* const start = side.type == MemoryType::host ? const_cast<void*>(side.host)
                                                    : pointer_to(std::uint64_t(side.device));
  memory = {start, side.pitch, 0, side.height};
}

abi::Copy3D runtime_form(const DriverCopy3D& box) {
  abi::Copy3D result{};
  set_runtime_side(box.from, result.from_array, result.from_position, result.from);
  set_runtime_side(box.to, result.to_array, result.to_position, result.to);
  const std::size_t unit = unit_of(result.to_array ? result.to_array : result.from_array);
  result.extent = {box.width / unit, box.height, box.depth};
  result.kind = int(direction_between(box.from.type, box.to.type));
  return result;
}
abi::Copy3D runtime_form(abi::Copy3D box) {
  box.from.width = box.to.width = 0;  // as an H100 returns them
  return box;
}

// True if no direction says the types of both sides.
bool has_no_direction(const DriverCopy3D& box) {
  const auto is = [](const DriverSide3D& side, MemoryType type) { return side.type == type; };
  const bool arrays = is(box.from, MemoryType::array) || is(box.to, MemoryType::array);
  return !arrays && is(box.from, MemoryType::unified) != is(box.to, MemoryType::unified);
}
bool has_no_direction(const abi::Copy3D&) { return false; }

// The parameters of a node whose program gave none: it was captured, or added as a linear copy.
abi::Copy3D described(const Copy& copy) {
  abi::Copy3D box{};
  const bool linear = copy.height == 1 && copy.depth == 1;
  const auto side = [&](const void* memory, std::uint64_t pitch, std::uint64_t rows) {
    auto* const start = const_cast<void*>(memory);
    return abi::PitchedPointer{start, linear ? 0 : pitch, 0, copy.depth == 1 ? 0 : rows};
  };
  box.extent = {copy.width, copy.height, copy.depth};
  box.extent.width /= unit_of(copy.to_array ? copy.to_array : copy.from_array);
  box.kind = int(copy.direction);
  box.from_array = const_cast<void*>(copy.from_array);
  box.to_array = const_cast<void*>(copy.to_array);
  if (copy.from_array)
    box.from_position = position_in(copy.from_array, copy.from);
  else
    box.from = side(copy.from, copy.from_pitch, copy.from_rows);
  if (copy.to_array)
    box.to_position = position_in(copy.to_array, copy.to);
  else
    box.to = side(copy.to, copy.to_pitch, copy.to_rows);
  return box;
}

Work with_given(Copy copy, GivenCopy given) {
  copy.given = std::make_shared<const GivenCopy>(std::move(given));
  return Work(std::move(copy));
}

// Calls read(parameters) with the parameters of a copy's node.
template <class Read>
Status with_parameters(const void* handle, Read read) {
  const std::lock_guard lock(graph_mutex());
  const auto node = node_of(handle);
  const auto* const copy = node ? std::get_if<Copy>(&node->work) : nullptr;
  if (!copy) return Status::invalid_value;
  return copy->given ? std::visit(read, copy->given->parameters) : read(described(*copy));
}

}  // namespace

Result<Work> copy_node_work(const abi::Copy3D* node) {
  auto copy = copy_of(node);
  if (!copy) return tl::unexpected(copy.error());
  return with_given(std::move(*copy), {*node});
}

Work copy_node_work(Copy copy, const DriverCopy3D& given) {
  return with_given(std::move(copy), {given});
}

Status get_copy_node(const void* handle, abi::Copy3D* place) {
  return with_parameters(handle, [&](const auto& given) {
    return has_no_direction(given) ? Status::unknown : store_value(place, runtime_form(given));
  });
}

Status get_copy_node(const void* handle, DriverCopy3D* place) {
  return with_parameters(handle,
                         [&](const auto& given) { return store_value(place, driver_form(given)); });
}

}  // namespace inflight::cuda
