// How a texture is read: the fields of CUDA's texture description.
#pragma once
#include <cstdint>

#include "gpu/texture/filter.hpp"
#include "gpu/texture/image.hpp"

namespace inflight::texture {

// The values are cudaTextureAddressMode's.
enum class Address : std::uint8_t { wrap, clamp, mirror, border };

struct Sampler {
  Address address[3] = {Address::clamp, Address::clamp, Address::clamp};
  As as = As::element;
  bool linear = false, mip_linear = false;  // false: point
  bool normalized = false;                  // coordinates are normalized
  bool seamless = false;                    // cubemaps: filters across edges
  float border[4] = {};
  float bias = 0, least = 0, greatest = 0;  // of the level of detail: bias and range
  unsigned anisotropy = 0;
};

struct Texture {
  Image image;
  Sampler sampler;
  Decode decode = nullptr;    // decoder(image.format, sampler.as)
  Filter filter = nullptr;    // null: levels are not mixed either
  std::byte border[16] = {};  // the border's colour as a texel
};

// Sets the fields that follow from image and sampler: decode, filter and border.
void prepare(Texture& texture);

struct Surface {
  Image image;
};

}  // namespace inflight::texture
