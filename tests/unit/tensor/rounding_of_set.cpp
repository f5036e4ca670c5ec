// The tensor cores' conversions to and from f16, compiled for one instruction set.
#include "gpu/tensor/rounding.hpp"
#include "tests/unit/tensor/rounding_sets.hpp"

namespace inflight::tensor::INFLIGHT_ISA {

void to_f16(std::span<const float> from, std::span<std::uint16_t> to) {
  for (std::size_t i = 0; i + lanes <= from.size(); i += lanes)
    store(&to[i], to_halves(load<Floats>(&from[i])));
}
void from_f16(std::span<const std::uint16_t> from, std::span<float> to) {
  for (std::size_t i = 0; i + lanes <= from.size(); i += lanes)
    store(&to[i], from_halves(load<Halves>(&from[i])));
}

}  // namespace inflight::tensor::INFLIGHT_ISA
