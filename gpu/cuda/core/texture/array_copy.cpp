// Copies to and from CUDA arrays.
#include <algorithm>

#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/texture/array.hpp"

namespace inflight::cuda {
namespace {

struct Side {
  char* base = nullptr;
  std::uint64_t pitch = 0, rows = 1;
};

Result<Side> side_of(const CopySide& s, std::size_t width, std::size_t height, std::size_t depth) {
  if (!s.array)
    return Side{place_in(s.pointer, {s.x, s.y, s.z}), s.pointer.pitch, s.pointer.height};
  const auto array = find_array(s.array);
  if (!array) return fail(Status::invalid_handle);
  const texture::Image& image = array->image;
  const texture::Level& level = image.levels[0];
  const std::uint64_t size[3] = {level.pitch, level.size[1], std::max(level.size[2], image.layers)};
  const std::uint64_t start[3] = {s.x, s.y, s.z}, count[3] = {width, height, depth};
  for (int d = 0; d < 3; ++d)
    if (start[d] > size[d] || count[d] > size[d] - start[d]) return fail(Status::invalid_value);
  const abi::PitchedPointer all{pointer_to(image.base), level.pitch, level.pitch, level.size[1]};
  return Side{place_in(all, {s.x, s.y, s.z}), level.pitch, level.size[1]};
}

}  // namespace

Result<Copy> array_copy(const CopySide& to, const CopySide& from, std::size_t width,
                        std::size_t height, std::size_t depth, Direction direction) {
  const auto t = side_of(to, width, height, depth), f = side_of(from, width, height, depth);
  if (!t || !f) return tl::unexpected(t ? f.error() : t.error());
  // An array is always on the device, and the direction must agree.
  if (to.array && (direction == Direction::host_to_host || direction == Direction::device_to_host))
    return fail(Status::invalid_direction);
  if (from.array &&
      (direction == Direction::host_to_host || direction == Direction::host_to_device))
    return fail(Status::invalid_direction);
  return Copy{.to = t->base,
              .from = f->base,
              .width = width,
              .height = height,
              .depth = depth,
              .to_pitch = t->pitch,
              .to_rows = t->rows,
              .from_pitch = f->pitch,
              .from_rows = f->rows,
              .direction = direction,
              .to_array = to.array,
              .from_array = from.array};
}

namespace {

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

abi::Position position_in(const void* handle, const void* pointer) {
  const auto array = find_array(handle);
  if (!array) return {};
  const texture::Level& level = array->image.levels[0];
  const std::uint64_t offset = address_of(pointer) - array->image.base;
  return {offset % level.pitch / array->image.format.bytes(), offset % level.slice / level.pitch,
          offset / level.slice};
}

}  // namespace inflight::cuda
