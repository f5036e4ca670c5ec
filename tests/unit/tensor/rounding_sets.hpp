// The functions of rounding_of_set.cpp in the namespace of each instruction set. The sizes of all
// ranges are multiples of 16.
#pragma once
#include <cstdint>
#include <span>

#define INFLIGHT_ROUNDING_OF(isa)                                     \
  namespace inflight::tensor::isa {                                   \
  void to_f16(std::span<const float> from, std::span<std::uint16_t>); \
  void from_f16(std::span<const std::uint16_t>, std::span<float> to); \
  }

INFLIGHT_ROUNDING_OF(isa_baseline)
INFLIGHT_ROUNDING_OF(isa_avx2)
INFLIGHT_ROUNDING_OF(isa_avx512)
