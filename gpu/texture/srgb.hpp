// Converts sRGB codes to linear light.
#pragma once
#include <cstdint>

namespace inflight::texture {

// Returns a number in [0, 1] that f16 can represent.
float linear_light(std::uint8_t code);

// The same in steps of 2^-15, with eight significant bits: `light` is a multiple of 2^step.
constexpr int light_bits = 15;
struct Light {
  std::uint16_t light;
  std::uint8_t step;
};
Light light_of(std::uint8_t code);

}  // namespace inflight::texture
