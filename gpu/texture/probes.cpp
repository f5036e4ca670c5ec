// Spreads the probes of an anisotropic filter (measured: tests/gpu/texture_anisotropy.cu).
#include "gpu/texture/probes.hpp"

#include <algorithm>
#include <cmath>

namespace inflight::texture {
namespace {

// 256 * 2^(-part / 256), rounded.
int inverse_power(int part) {
  return static_cast<int>(std::floor(std::exp2(8 - part / 256.0) + 0.5));
}

constexpr int half_step = 1 << 6;  // of 2^7

}  // namespace

int scale_of(std::uint32_t fraction) {
  return inverse_power(static_cast<int>(whole - fraction)) / 2;
}

// Up to a ratio of 2, two probes move apart. From there on the probes are a step apart. The inner
// ones weigh 1 / ratio, and the last pair gets the rest.
Probes probes_along(const int (&step)[2], int ratio, int scale) {
  Probes p;
  int octave = ratio >> fraction_bits, power = inverse_power(ratio & (whole - 1));
  if (power == whole / 2) ++octave, power = whole;
  p.all = octave < 2 ? 512 : 1024;
  p.inner = static_cast<std::uint32_t>(octave == 0 ? static_cast<int>(whole)
                                                   : power >> std::max(octave - 2, 0));
  p.pairs = (p.all / 2 + p.inner - 1) / p.inner;
  for (unsigned d = 0; d < 2; ++d) {
    const int apart = (step[d] * (static_cast<int>(whole) - power) + half_step) >> 7;
    const int nearest = ((octave == 0 ? apart : step[d]) * scale) >> 6;
    for (int i = 0; i < static_cast<int>(p.pairs); ++i) p.place[i][d] = 2 * (2 * i + 1) * nearest;
  }
  return p;
}

// Rounds the sum of the weights up to a pair. Halves round down among the first probes of pairs,
// and up among the second ones.
std::uint32_t weight_of(const Probes& probes, unsigned pair, bool second, std::uint32_t part) {
  const auto up_to = [&](unsigned pairs) {
    const std::uint32_t sum = std::min(pairs * probes.inner, probes.all / 2) * part;
    return (sum + (second ? whole / 2 : whole / 2 - 1)) >> fraction_bits;
  };
  return up_to(pair + 1) - up_to(pair);
}

}  // namespace inflight::texture
