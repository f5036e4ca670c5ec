// CUDA's checks of texture and surface descriptions, and their conversion to images and samplers.
#include "gpu/cuda/core/texture/objects.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "gpu/bytes/range.hpp"
#include "gpu/cuda/core/base/addresses.hpp"
#include "gpu/cuda/core/base/profiles.hpp"
#include "gpu/cuda/core/base/store.hpp"
#include "gpu/cuda/core/queue/core.hpp"
#include "gpu/cuda/core/texture/array.hpp"

namespace inflight::cuda {
namespace {

using texture::Sampler;

// The descriptions, which programs may query.
struct Described {
  abi::Resource resource;
  abi::TextureDescription description;
  std::optional<abi::ResourceView> view;
};
struct ObjectDescriptions {
  std::mutex mutex;
  std::unordered_map<ObjectHandle, Described> of;
};
ObjectDescriptions& object_descriptions() {
  static auto& all = *new ObjectDescriptions;
  return all;
}

int attribute(int which) {
  return static_cast<int>(*Core::get().profile().attribute(which, current_device().ordinal));
}
constexpr int texture_alignment = 14, pitch_alignment = 51, pitched_width = 70, pitched_height = 71,
              pitched_pitch = 72;

// The most texels of a texture of linear memory, limited by their number and by their bytes.
std::size_t most_texels(texture::Format format) {
  return std::min<std::size_t>(std::size_t{1} << 30, (std::size_t{1} << 32) / format.bytes());
}

// True if a texture of memory may begin at this address.
bool can_begin_at(std::uint64_t base) {
  return base % static_cast<unsigned>(attribute(texture_alignment)) == 0 &&
         Core::get().memory.find(base).has_value();
}

// --- resources ---

Result<texture::Image> linear_image(const abi::Resource& r) {
  const auto format = format_of(r.linear.format);
  if (!format) return tl::unexpected(format.error());
  const std::uint64_t base = address_of(r.linear.pointer);
  const auto texels = r.linear.bytes / format->bytes();
  if (!can_begin_at(base) || texels > most_texels(*format)) return fail(Status::invalid_value);
  texture::Image image;
  image.geometry = texture::Geometry::line;
  image.linear = true;
  image.format = *format;
  image.base = base;
  image.bytes = texels * format->bytes();
  texture::Level level;
  level.size[0] = static_cast<std::uint32_t>(texels);
  level.pitch = level.slice = image.bytes;
  image.levels.push_back(level);
  return image;
}

Result<texture::Image> pitched_image(const abi::Resource& r) {
  const auto& p = r.pitched;
  const auto format = format_of(p.format);
  if (!format) return tl::unexpected(format.error());
  const std::uint64_t base = address_of(p.pointer);
  const auto within = [](std::size_t n, int limit) {
    return n <= static_cast<unsigned>(attribute(limit));
  };
  if (!can_begin_at(base) || p.pitch % static_cast<unsigned>(attribute(pitch_alignment)) != 0 ||
      !within(p.width, pitched_width) || !within(p.height, pitched_height) ||
      !within(p.pitch, pitched_pitch))
    return fail(Status::invalid_value);
  texture::Image image;
  image.geometry = texture::Geometry::plane;
  image.format = *format;
  image.base = base;
  texture::Level level;
  level.size[0] = static_cast<std::uint32_t>(p.width);
  level.size[1] = static_cast<std::uint32_t>(p.height);
  const ByteBox rows{p.width * format->bytes(), p.height, 1, p.pitch};  // within the limits above
  level.pitch = p.pitch, level.slice = rows.offset(0, p.height);
  image.bytes = rows.span().value_or(0);
  image.levels.push_back(level);
  return image;
}

Result<texture::Image> image_of(const abi::Resource& r) {
  switch (r.type) {
    case abi::resource_array:
      if (const auto array = find_array(r.array)) return array->image;
      return fail(Status::invalid_handle);
    case abi::resource_mipmapped:
      if (const auto array = Core::get().mipmapped_arrays.find(r.mipmapped)) return array->image;
      return fail(Status::invalid_handle);
    case abi::resource_linear:
      return linear_image(r);
    case abi::resource_pitched:
      return pitched_image(r);
    default:
      return fail(Status::invalid_value);
  }
}

// Restricts the image to the view's levels, layers and format.
Status apply(const abi::ResourceView& view, texture::Image& image) {
  // 1 to 24: 1, 2, 4 channels of u8, s8, u16, s16, u32, s32, f16, f32. Compressed formats follow.
  constexpr int formats = 24, compressed = 14;
  if (view.format <= 0 || view.format > formats + compressed) return Status::invalid_value;
  if (view.format > formats) {
    report_once("compressed textures", "views in block-compressed formats are not supported.");
    return Status::not_supported;
  }
  constexpr std::uint8_t bits[] = {8, 8, 16, 16, 32, 32, 16, 32}, channels[] = {1, 2, 4};
  const int sort = (view.format - 1) / 3;
  const texture::Kind kind = sort >= 6       ? texture::Kind::floating
                             : sort % 2 == 0 ? texture::Kind::unsigned_integer
                                             : texture::Kind::signed_integer;
  const texture::Format seen{kind, bits[sort], channels[(view.format - 1) % 3]};
  if (seen.bytes() != image.format.bytes()) return Status::invalid_value;
  image.format = seen;
  const auto& top = image.levels[0];
  if (view.width != top.size[0] || (view.height != 0 && view.height != top.size[1]))
    return Status::invalid_value;
  const bool layered = texture::is_layered(image.geometry) && !texture::is_cube(image.geometry);
  if (layered && view.depth != image.layers) return Status::invalid_value;
  if (view.last_level >= image.levels.size() || view.first_level > view.last_level)
    return Status::invalid_value;
  image.levels = {image.levels.begin() + view.first_level,
                  image.levels.begin() + view.last_level + 1};
  if (view.last_layer >= image.layers || view.first_layer > view.last_layer)
    return Status::invalid_value;
  for (auto& level : image.levels)
    level.offset += ByteBox{.slice_pitch = level.slice}.offset(view.first_layer, 0);
  if (layered || view.last_layer != 0) image.layers = view.last_layer - view.first_layer + 1;
  return Status::success;
}

// --- descriptions ---

Status check(const abi::TextureDescription& d, const texture::Image& image, Filtering integers) {
  const auto in = [](int value, int most) { return value >= 0 && value <= most; };
  for (const int a : d.address)
    if (!in(a, 3)) return Status::invalid_value;
  if (!in(d.filter, 1) || !in(d.mip_filter, 1)) return Status::invalid_value;
  if (d.seamless && !texture::is_cube(image.geometry)) return Status::invalid_value;
  const texture::Format& f = image.format;
  const bool integer = f.kind != texture::Kind::floating, normalizable = integer && f.bits < 32;
  const bool as_float = d.read == 1;
  if (integers == Filtering::as_floats && d.filter == 1 && integer && !(as_float && normalizable))
    return Status::invalid_filter_setting;
  return as_float && !normalizable ? Status::invalid_norm_setting : Status::success;
}

Sampler sampler_of(const abi::TextureDescription& d) {
  Sampler s;
  for (int i = 0; i < 3; ++i) s.address[i] = static_cast<texture::Address>(d.address[i]);
  s.linear = d.filter == 1, s.mip_linear = d.mip_filter == 1;
  s.as = d.read == 0 ? texture::As::element : d.srgb ? texture::As::srgb : texture::As::normalized;
  s.normalized = d.normalized != 0, s.seamless = d.seamless != 0;
  std::copy(d.border, d.border + 4, s.border);
  s.bias = d.bias, s.least = d.least, s.greatest = d.greatest;
  s.anisotropy = d.anisotropy;
  return s;
}

template <class Get>
Status described(ObjectHandle handle, Get get) {
  auto& all = object_descriptions();
  std::lock_guard lock(all.mutex);
  const auto found = all.of.find(handle);
  return found == all.of.end() ? Status::invalid_value : get(found->second);
}

void keep(ObjectHandle handle, Described what) {
  auto& all = object_descriptions();
  std::lock_guard lock(all.mutex);
  all.of[handle] = std::move(what);
}
void forget(ObjectHandle handle) {
  auto& all = object_descriptions();
  std::lock_guard lock(all.mutex);
  all.of.erase(handle);
}

}  // namespace

Status make_texture(ObjectHandle* place, const abi::Resource* resource,
                    const abi::TextureDescription* description, const abi::ResourceView* view,
                    Filtering integers) {
  if (!place || !resource) return Status::invalid_value;
  if (!description) return Status::invalid_handle;  // as on an H200
  auto image = image_of(*resource);
  if (!image) return image.error().status;
  if (view)
    if (Status status = apply(*view, *image); status != Status::success) return status;
  if (Status status = check(*description, *image, integers); status != Status::success)
    return status;
  texture::Texture t{std::move(*image), sampler_of(*description)};
  texture::prepare(t);
  *place = Core::get().texture_objects.add(std::move(t));
  keep(*place,
       {*resource, *description, view ? std::optional<abi::ResourceView>(*view) : std::nullopt});
  return Status::success;
}

Status destroy_texture(ObjectHandle handle) {
  if (Core::get().texture_objects.remove_texture(handle)) forget(handle);
  return Status::success;
}

Status get_texture(ObjectHandle handle, abi::Resource* place) {
  return described(handle, [&](const Described& d) { return store_value(place, d.resource); });
}
Status get_texture(ObjectHandle handle, abi::TextureDescription* place) {
  return described(handle, [&](const Described& d) { return store_value(place, d.description); });
}
Status get_texture(ObjectHandle handle, abi::ResourceView* place) {
  return described(handle, [&](const Described& d) {
    return store_value(place, d.view.value_or(abi::ResourceView{}));
  });
}

Status make_surface(ObjectHandle* place, const abi::Resource* resource) {
  if (!place || !resource) return Status::invalid_value;
  if (resource->type != abi::resource_array) return Status::invalid_value;
  const auto array = find_array(resource->array);
  if (!array) return Status::invalid_handle;
  *place = Core::get().texture_objects.add(texture::Surface{array->image});
  keep(*place, {*resource, {}, std::nullopt});
  return Status::success;
}

Status destroy_surface(ObjectHandle handle) {
  if (Core::get().texture_objects.remove_surface(handle)) forget(handle);
  return Status::success;
}

Status get_surface(ObjectHandle handle, abi::Resource* place) {
  return described(handle, [&](const Described& d) { return store_value(place, d.resource); });
}

Status linear_texture_width(std::size_t* place, const abi::ChannelFormat* channels, int device) {
  if (!device_exists(device)) return Status::invalid_device;
  if (!channels) return Status::invalid_value;
  const auto format = format_of(*channels);
  if (!format) return format.error().status;
  return store_value(place, most_texels(*format));
}

}  // namespace inflight::cuda
