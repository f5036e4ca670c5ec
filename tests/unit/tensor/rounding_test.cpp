// The tensor cores' conversions of vectors give what gpu/numbers gives for each value, with every
// instruction set.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gpu/host/instruction_set.hpp"
#include "gpu/numbers/small_floats.hpp"
#include "tests/unit/tensor/rounding_sets.hpp"

namespace inflight::tensor {
namespace {

using host::InstructionSet;
using numbers::F16;

struct Set {
  std::string name;
  InstructionSet needs;
  void (*to_f16)(std::span<const float>, std::span<std::uint16_t>);
  void (*from_f16)(std::span<const std::uint16_t>, std::span<float>);
};
// Those of this build that the host has.
std::vector<Set> sets() {
  std::vector<Set> all;
#ifdef INFLIGHT_HAS_BASELINE
  all.push_back(
      {"baseline", InstructionSet::baseline, isa_baseline::to_f16, isa_baseline::from_f16});
#endif
#ifdef INFLIGHT_HAS_AVX2
  all.push_back({"avx2", InstructionSet::avx2, isa_avx2::to_f16, isa_avx2::from_f16});
#endif
#ifdef INFLIGHT_HAS_AVX512
  all.push_back({"avx512", InstructionSet::avx512, isa_avx512::to_f16, isa_avx512::from_f16});
#endif
  std::erase_if(all, [](const Set& each) { return each.needs > host::instruction_set(); });
  return all;
}

// Every sign, exponent and upper ten bits of the fraction, with the thirteen lower bits at and
// beside the places where the rounding turns. No NaN: the cores do not convert them.
std::vector<float> floats_to_round() {
  std::vector<float> all;
  for (std::uint32_t upper = 0; upper < 1u << 19; ++upper)
    for (const std::uint32_t lower : {0u, 1u, 0x7ffu, 0x800u, 0x801u, 0xfffu, 0x1000u, 0x1001u})
      if (const std::uint32_t bits = upper << 13 | lower; !numbers::is_nan(bits))
        all.push_back(std::bit_cast<float>(bits));
  all.resize((all.size() + 15) / 16 * 16);
  return all;
}

TEST(Rounding, OfVectorsToF16IsThatOfNumbers) {
  const std::vector<float> from = floats_to_round();
  std::vector<std::uint16_t> to(from.size());
  ASSERT_FALSE(sets().empty());
  for (const Set& set : sets()) {
    set.to_f16(from, to);
    int wrong = 0;
    for (std::size_t i = 0; i < from.size() && wrong < 5; ++i)
      if (to[i] != F16::round(from[i])) {
        ++wrong;
        ADD_FAILURE() << set.name << ": " << std::hex << std::bit_cast<std::uint32_t>(from[i])
                      << " becomes " << to[i] << " instead of " << F16::round(from[i]);
      }
  }
}

TEST(Rounding, ValuesOfVectorsOfF16AreThoseOfNumbers) {
  std::vector<std::uint16_t> from;
  for (std::uint32_t h = 0; h < 1u << 16; ++h)
    from.push_back((h & 0x7fff) > F16::infinity ? 0 : static_cast<std::uint16_t>(h));
  std::vector<float> to(from.size());
  for (const Set& set : sets()) {
    set.from_f16(from, to);
    for (std::size_t i = 0; i < from.size(); ++i)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(to[i]),
                std::bit_cast<std::uint32_t>(F16::value(from[i])))
          << set.name << ": " << from[i];
  }
}

}  // namespace
}  // namespace inflight::tensor
