// From sRGB's codes to linear light.
#pragma once
#include <cstdint>

namespace inflight::texture {

// In [0, 1]; a number that a half can be.
float linear_light(std::uint8_t code);

}  // namespace inflight::texture
