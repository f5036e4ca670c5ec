// Mixes texels by weights like the hardware's filters (measured: tests/gpu/texture_truth.cu).
//
// Weights add up to `all`, which is 256, or 512 or 1024 with several probes. Integer texels are
// mixed as 16-bit fixed-point numbers. Float texels are aligned to the greatest of them, with four
// bits more than their significands. The sum is rounded once, to the precision of the format.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gpu/texture/format.hpp"

namespace inflight::texture {

// Texels and their weights. Texels of weight 0 are omitted.
struct Mix {
  static constexpr unsigned most = 128;  // 16 probes in each of two levels, four texels of each
  const std::byte* texel[most];
  std::uint32_t weight[most];
  unsigned count = 0;
  std::uint32_t all = 256;
  unsigned first_of_quad[32], quads = 0;  // texels of one probe or slice are summed together
  unsigned second_level = 32;             // the first quad of a second level
  void begin_quad() { first_of_quad[quads++] = count; }
  unsigned end_of_quad(unsigned quad) const {
    return quad + 1 < quads ? first_of_quad[quad + 1] : count;
  }
  void add(const std::byte* at, std::uint32_t by) {
    if (by != 0) texel[count] = at, weight[count++] = by;
  }
};

using Filter = Value (*)(const Mix& mix);
// Returns the filter for texels of `format`.
Filter filter_of(Format format, As as);

}  // namespace inflight::texture
