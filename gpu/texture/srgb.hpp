// From sRGB's codes to linear light.
#pragma once
#include <cstdint>

namespace inflight::texture {

// In [0, 1]; a number that a half can be.
float linear_light(std::uint8_t code);

// The same in steps of 2^-15, as a number of eight digits: a multiple of 2^step.
constexpr int light_bits = 15;
struct Light {
  std::uint16_t light;
  std::uint8_t step;
};
Light light_of(std::uint8_t code);

}  // namespace inflight::texture
