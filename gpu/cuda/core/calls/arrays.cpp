// The shapes that arrays may have, and their memory.
#include "gpu/cuda/core/calls/arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "gpu/bytes/range.hpp"
#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/calls/capture_rules.hpp"
#include "gpu/cuda/core/calls/copy.hpp"
#include "gpu/cuda/core/memory/mappings.hpp"
#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {
namespace {

using texture::Geometry;

constexpr std::uint64_t level_alignment = 512;
constexpr unsigned known_flags = 0xf;

Geometry geometry_of(const abi::Extent& e, unsigned flags) {
  const bool layered = flags & abi::array_layered;
  if (flags & abi::array_cubemap) return layered ? Geometry::cubes : Geometry::cube;
  if (layered) return e.height ? Geometry::planes : Geometry::lines;
  return e.depth ? Geometry::volume : e.height ? Geometry::plane : Geometry::line;
}

// The numbers of the device attributes that limit width, height and depth or layers.
struct Limits {
  int width, height, depth;
};
constexpr Limits limits[] = {{21, 0, 0},   {22, 23, 0}, {24, 25, 26}, {42, 0, 43},
                             {27, 28, 29}, {52, 52, 0}, {53, 53, 54}};
constexpr Limits surface_limits[] = {{55, 0, 0},   {56, 57, 0}, {58, 59, 60}, {61, 0, 62},
                                     {63, 64, 65}, {66, 66, 0}, {67, 67, 68}};
constexpr Limits alternate{47, 48, 49}, gather{45, 46, 0};

bool within(const abi::Extent& e, const Limits& limit) {
  const Profile& profile = Core::get().profile();
  const auto fits = [&](std::size_t n, int attribute) {
    return attribute == 0 || n <= static_cast<std::size_t>(*profile.attribute(attribute, 0));
  };
  return fits(e.width, limit.width) && fits(e.height, limit.height) && fits(e.depth, limit.depth);
}

Status check_extent(const abi::Extent& e, unsigned flags) {
  const Geometry g = geometry_of(e, flags);
  if (flags & (abi::array_sparse | abi::array_deferred)) {
    report_once("sparse arrays",
                "sparse arrays and arrays without memory of their own are not "
                "supported; make them without cudaArraySparse and "
                "cudaArrayDeferredMapping.");
    return Status::not_supported;
  }
  if (flags & ~known_flags || e.width == 0) return Status::invalid_value;
  if (g == Geometry::volume && e.height == 0) return Status::invalid_value;
  if (texture::is_layered(g) && e.depth == 0) return Status::invalid_value;
  if (texture::is_cube(g)) {
    const bool faces = g == Geometry::cube ? e.depth == 6 : e.depth % 6 == 0;
    if (e.width != e.height || !faces) return Status::invalid_value;
  }
  if (flags & abi::array_gather && g != Geometry::plane) return Status::invalid_value;
  if (flags & abi::array_gather && !within(e, gather)) return Status::invalid_value;
  const auto shape = static_cast<unsigned>(g);
  if (flags & abi::array_surface)
    return within(e, surface_limits[shape]) ? Status::success : Status::invalid_value;
  const bool fits = within(e, limits[shape]) || (g == Geometry::volume && within(e, alternate));
  return fits ? Status::success : Status::invalid_value;
}

// Lays out `count` levels one after the other.
texture::Image layout(const abi::Extent& e, unsigned flags, texture::Format format,
                      unsigned count) {
  texture::Image image;
  image.geometry = geometry_of(e, flags);
  image.format = format;
  const bool layered = flags & (abi::array_layered | abi::array_cubemap);
  const auto deep = static_cast<std::uint32_t>(std::max<std::size_t>(e.depth, 1));
  image.layers = layered ? deep : 1;
  const std::uint32_t size[3] = {static_cast<std::uint32_t>(e.width),
                                 static_cast<std::uint32_t>(std::max<std::size_t>(e.height, 1)),
                                 layered ? 1 : deep};
  std::uint64_t end = 0;
  for (unsigned i = 0; i < count; ++i) {
    texture::Level level;
    for (unsigned d = 0; d < 3; ++d) level.size[d] = std::max(1u, size[d] >> i);
    level.offset = (end + level_alignment - 1) / level_alignment * level_alignment;
    level.pitch = std::uint64_t{level.size[0]} * format.bytes();
    level.slice = ByteBox{.pitch = level.pitch}.offset(0, level.size[1]);
    end = level.offset +
          ByteBox{.slice_pitch = level.slice}.offset(std::max(level.size[2], image.layers), 0);
    image.levels.push_back(level);
  }
  image.bytes = end;
  return image;
}

// Allocates memory for the image.
Status allocate(texture::Image& image, int device) {
  auto& memory = Core::get().memory;
  const texture::Level& l = image.levels[0];
  auto base = memory.allocate(
      device, image.bytes, machine::AllocationKind::device, level_alignment,
      fmt::format("CUDA array {}x{}x{}", l.size[0], l.size[1], std::max(l.size[2], image.layers)));
  if (!base) return Status::out_of_memory;
  image.base = *base;
  return Status::success;
}

}  // namespace

Status make_array(void** place, const abi::ChannelFormat* channels, const abi::Extent& extent,
                  unsigned flags) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (!place || !channels) return Status::invalid_value;
  const auto format = format_of(*channels);
  if (!format) return format.error().status;
  if (Status status = check_extent(extent, flags); status != Status::success) return status;
  auto array = std::make_shared<Array>();
  array->device = current_device().ordinal;
  array->format = *channels;
  array->extent = extent;
  array->flags = flags;
  array->image = layout(extent, flags, *format, 1);
  if (Status status = allocate(array->image, array->device); status != Status::success)
    return status;
  *place = Core::get().arrays.add(std::move(array));
  return Status::success;
}

Status make_mipmapped(void** place, const abi::ChannelFormat* channels, const abi::Extent& extent,
                      unsigned levels, unsigned flags) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (!place || !channels) return Status::invalid_value;
  const auto format = format_of(*channels);
  if (!format) return format.error().status;
  if (Status status = check_extent(extent, flags); status != Status::success) return status;
  const bool layered = flags & (abi::array_layered | abi::array_cubemap);
  const std::size_t longest =
      std::max({extent.width, extent.height, layered ? std::size_t{0} : extent.depth});
  const auto most = static_cast<unsigned>(std::bit_width(longest));
  auto array = std::make_shared<MipmappedArray>();
  array->device = current_device().ordinal;
  array->format = *channels;
  array->extent = extent;
  array->flags = flags;
  array->image = layout(extent, flags, *format, std::clamp(levels, 1u, most));
  if (Status status = allocate(array->image, array->device); status != Status::success)
    return status;
  for (const texture::Level& level : array->image.levels) {
    auto one = std::make_shared<Array>();
    one->device = array->device, one->format = *channels, one->flags = flags;
    one->is_level = true;
    one->extent = {level.size[0], extent.height ? level.size[1] : 0,
                   layered        ? extent.depth
                   : extent.depth ? level.size[2]
                                  : 0};
    one->image = layout(one->extent, flags, *format, 1);
    one->image.base = array->image.base + level.offset;
    array->levels.push_back(std::move(one));
  }
  for (const auto& level : array->levels) Core::get().arrays.add(level);
  *place = Core::get().mipmapped_arrays.add(std::move(array));
  return Status::success;
}

Status array_level(void** place, const void* handle, unsigned level) {
  const auto mipmapped = Core::get().mipmapped_arrays.find(handle);
  if (!place || !mipmapped) return place ? Status::invalid_handle : Status::invalid_value;
  if (level >= mipmapped->levels.size()) return Status::invalid_value;
  *place = mipmapped->levels[level].get();
  return Status::success;
}

Status ask_special_array(const void* handle) {
  return find_array(handle) ? Status::invalid_value : Status::invalid_handle;
}
Status ask_special_mipmapped(const void* handle) {
  const bool found = Core::get().mipmapped_arrays.find(handle) != nullptr;
  return found ? Status::invalid_value : Status::invalid_handle;
}

Status free_array(void* handle) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (!handle) return Status::success;
  auto array = find_array(handle);
  if (!array) return Status::invalid_handle;
  if (array->is_level) return Status::success;  // freed with its mipmapped array
  wait_for_users(array->image.base, array->device);
  if (!Core::get().arrays.remove(handle)) return Status::invalid_handle;
  Core::get().memory.release(array->image.base);
  return Core::get().device(array->device).fault();
}

Status free_mipmapped(void* handle) {
  if (Status status = allowed_in_capture(); status != Status::success) return status;
  if (!handle) return Status::success;
  auto array = Core::get().mipmapped_arrays.find(handle);
  if (!array) return Status::invalid_handle;
  wait_for_users(array->image.base, array->device);
  if (!Core::get().mipmapped_arrays.remove(handle)) return Status::invalid_handle;
  for (const auto& level : array->levels) Core::get().arrays.remove(level.get());
  Core::get().memory.release(array->image.base);
  return Core::get().device(array->device).fault();
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

}  // namespace inflight::cuda
