// Tensor maps for fuzzers. Most are valid on a given piece of memory. Some fields are hostile.
#pragma once
#include "gpu/async/tensor_map.hpp"
#include "tests/fuzz/choices.hpp"

namespace inflight::fuzz {

// A map of `rank` dimensions on `bytes` of memory at `global`. Each field is arbitrary with a
// chance of `odd` in a hundred.
inline async::TensorMap any_tensor_map(Choices& choices, async::TensorMode mode, std::uint32_t rank,
                                       std::uint64_t global, std::uint64_t bytes,
                                       unsigned odd = 2) {
  using namespace async;
  const auto hostile = [&] { return choices.below(100) < odd; };
  const auto number = [&](std::uint64_t good) { return hostile() ? choices.pick(extremes) : good; };
  TensorMap m;
  m.mode = static_cast<TensorMode>(number(static_cast<unsigned>(mode)));
  m.rank = static_cast<std::uint32_t>(number(rank));
  m.type = static_cast<TensorType>(number(choices.below(tensor_type_count)));
  const bool known = static_cast<unsigned>(m.type) < tensor_type_count;
  const std::uint32_t size = known ? m.element_bytes() : 4;
  if (m.rank >= 3 && choices.one_in(4))
    m.interleave = static_cast<Interleave>(number(1 + choices.below(2)));
  const std::uint32_t slice = m.interleave == Interleave::b32 ? 32 : 16;
  m.swizzle = static_cast<Swizzle>(number(choices.below(4)));
  m.l2_promotion = static_cast<L2Promotion>(number(choices.below(4)));
  if (known && facts(m.type).floating_point)
    m.fill = static_cast<OobFill>(number(choices.below(2)));
  const std::uint32_t span =
      m.swizzle == Swizzle::none || m.swizzle > Swizzle::b128 ? 256 : swizzle_span(m.swizzle);
  const std::uint32_t row = 16 * (1 + choices.below(span / 16));
  m.global_address = number((global + 31) / 32 * 32 + (choices.one_in(4) ? bytes / 2 : 0));
  for (std::uint32_t i = 0; i < max_tensor_rank; ++i) {
    m.dim[i] = number(1 + choices.below(choices.one_in(4) ? 200 : 12)) & 0xffffffff;
    m.dim[i] += m.dim[i] == 0;
    m.stride[i] = number(32ull * choices.below(choices.one_in(4) ? 64 : 8));
    m.element_stride[i] =
        static_cast<std::uint32_t>(number(choices.one_in(4) ? 1 + choices.below(8) : 1));
    m.box[i] = static_cast<std::uint32_t>(number(1 + choices.below(choices.one_in(8)   ? 256
                                                                   : choices.one_in(2) ? 4
                                                                                       : 1)));
  }
  m.box[0] = static_cast<std::uint32_t>(number(row / size));
  m.stride[0] = m.interleave == Interleave::none ? size : slice;
  for (int i = 0; i < 3; ++i) {
    m.lower_corner[i] = static_cast<std::int32_t>(number(choices.below(3)) - 1);
    m.upper_corner[i] = static_cast<std::int32_t>(number(choices.below(3)) - 1);
  }
  m.channels = static_cast<std::uint32_t>(number(row / size));
  m.pixels = static_cast<std::uint32_t>(number(1 + choices.below(choices.one_in(4) ? 1024 : 20)));
  return m;
}

}  // namespace inflight::fuzz
