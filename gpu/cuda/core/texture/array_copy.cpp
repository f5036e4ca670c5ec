// Copies to and from CUDA arrays.
#include <algorithm>

#include "gpu/cuda/core/core.hpp"
#include "gpu/cuda/core/memory/addresses.hpp"
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

Status copy_run(Stream& stream, CopySide to, CopySide from, std::size_t bytes, Direction direction,
                bool asynchronous) {
  // The bytes left in a row. Memory without an array counts as one row.
  const auto left = [&](const CopySide& s) {
    const auto array = s.array ? find_array(s.array) : nullptr;
    const std::uint64_t row = array ? array->image.levels[0].pitch : ~std::uint64_t{0};
    return s.x < row ? row - s.x : 0;
  };
  const auto advance = [&](CopySide& s, std::size_t by) {
    s.x += by;
    if (s.array && left(s) == 0) s.x = 0, ++s.y;
  };
  while (bytes != 0) {
    const std::size_t now = std::min({bytes, left(to), left(from)});
    if (now == 0) return Status::invalid_value;
    const auto part = array_copy(to, from, now, 1, 1, direction);
    if (!part) return part.error().status;
    if (Status s = copy(stream, *part, asynchronous); s != Status::success) return s;
    advance(to, now), advance(from, now), bytes -= now;
  }
  return Status::success;
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
