// Reads a texture: takes coordinates and returns the value of a `tex` or `tld4`.
#pragma once
#include "gpu/texture/sampler.hpp"

namespace inflight::texture {

// The options of the instruction.
enum class Lod : std::uint8_t { base, level, grad };
struct Read {
  Geometry geometry = Geometry::plane;
  Lod lod = Lod::base;
  bool integer = false;     // coordinates count texels
  std::int8_t gather = -1;  // tld4: the component to return; -1: not tld4
};

// The operands of one thread.
struct Request {
  float at[3] = {};
  std::int32_t texel[3] = {};  // integer coordinates
  std::uint32_t layer = 0;
  float level = 0;
  float dx[3] = {}, dy[3] = {};
  std::int32_t offset[3] = {};
};

// Reads texels at their addresses. Adds the addresses to `touched`, unless it is null.
Value read(const Texture& texture, const Read& how, const Request& request, Footprint* touched);

}  // namespace inflight::texture
