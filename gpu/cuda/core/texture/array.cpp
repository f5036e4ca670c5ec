// The live arrays, and their formats.
#include "gpu/cuda/core/texture/array.hpp"

#include <algorithm>

#include "gpu/cuda/core/queue/core.hpp"

namespace inflight::cuda {

Result<texture::Format> format_of(const abi::ChannelFormat& c) {
  const int bits[] = {c.x, c.y, c.z, c.w};
  int count = 0;
  while (count < 4 && bits[count] != 0) ++count;
  const bool alike = std::all_of(bits, bits + count, [&](int b) { return b == c.x; }) &&
                     std::all_of(bits + count, bits + 4, [](int b) { return b == 0; });
  const bool width = c.x == 16 || c.x == 32 || (c.x == 8 && c.kind != abi::channel_float);
  if (!alike || !width || count == 0 || count == 3 || c.kind < 0 || c.kind > abi::channel_float)
    return fail(Status::invalid_channel_descriptor);
  const texture::Kind kind = c.kind == abi::channel_float      ? texture::Kind::floating
                             : c.kind == abi::channel_unsigned ? texture::Kind::unsigned_integer
                                                               : texture::Kind::signed_integer;
  return texture::Format{kind, static_cast<std::uint8_t>(c.x), static_cast<std::uint8_t>(count)};
}

abi::ChannelFormat channels_of(texture::Format f) {
  const int b = f.bits, n = f.channels;
  const int kind = f.kind == texture::Kind::floating           ? abi::channel_float
                   : f.kind == texture::Kind::unsigned_integer ? abi::channel_unsigned
                                                               : abi::channel_signed;
  return {b, n > 1 ? b : 0, n > 2 ? b : 0, n > 3 ? b : 0, kind};
}

void forget_arrays(int device) {
  Core& core = Core::get();
  for (const auto& each : core.arrays.all())
    if (each->device == device) core.arrays.remove(each.get());
  for (const auto& each : core.mipmapped_arrays.all())
    if (each->device == device) core.mipmapped_arrays.remove(each.get());
}

std::shared_ptr<Array> find_array(const void* handle) { return Core::get().arrays.find(handle); }

}  // namespace inflight::cuda
