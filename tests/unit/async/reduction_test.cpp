// Element-wise reductions: the supported ones, and their edge cases.
#include "gpu/async/reduction.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "gpu/async/timing.hpp"
#include "gpu/numbers/small_floats.hpp"

namespace inflight::async {
namespace {

using numbers::F16;
using numbers::round_to_tf32;

template <class T>
T reduced(ReduceOp op, TensorType type, T a, T b) {
  alignas(16) T destination = a;
  const Reduce f = reduction(op, type);
  EXPECT_NE(f, nullptr) << name(op) << " " << facts(type).name;
  if (f != nullptr)
    f(reinterpret_cast<std::byte*>(&destination), reinterpret_cast<const std::byte*>(&b), sizeof b);
  return destination;
}

TEST(Reduction, ExistsForTheTypesOfTheTable) {
  const struct {
    TensorType type;
    const char* operations;  // add min max inc dec and or xor
  } rows[] = {{TensorType::u32, "11111111"},      {TensorType::s32, "11100111"},
              {TensorType::u64, "11100111"},      {TensorType::s64, "01100000"},
              {TensorType::f16, "11100000"},      {TensorType::bf16, "11100000"},
              {TensorType::f32, "10000000"},      {TensorType::f64, "10000000"},
              {TensorType::f32_ftz, "10000000"},  {TensorType::tf32, "10000000"},
              {TensorType::tf32_ftz, "10000000"}, {TensorType::u8, "00000000"},
              {TensorType::u16, "00000000"}};
  for (const auto& row : rows)
    for (std::uint32_t op = 0; op < reduce_op_count; ++op)
      EXPECT_EQ(reduction(static_cast<ReduceOp>(op), row.type) != nullptr,
                row.operations[op] == '1')
          << facts(row.type).name << " " << op;
}

TEST(Reduction, OfIntegers) {
  using enum ReduceOp;
  EXPECT_EQ(reduced(add, TensorType::u32, 0xffffffffu, 3u), 2u);
  EXPECT_EQ(reduced(min, TensorType::u32, 0x80000000u, 1u), 1u);
  EXPECT_EQ(reduced(min, TensorType::s32, 0x80000000u, 1u), 0x80000000u);
  EXPECT_EQ(reduced(max, TensorType::s64, std::uint64_t(-1), std::uint64_t{0}), 0u);
  EXPECT_EQ(reduced(max, TensorType::u64, std::uint64_t(-1), std::uint64_t{0}), std::uint64_t(-1));
  EXPECT_EQ(reduced(inc, TensorType::u32, 4u, 5u), 5u);
  EXPECT_EQ(reduced(inc, TensorType::u32, 5u, 5u), 0u);
  EXPECT_EQ(reduced(dec, TensorType::u32, 0u, 5u), 5u);
  EXPECT_EQ(reduced(dec, TensorType::u32, 6u, 5u), 5u);
  EXPECT_EQ(reduced(dec, TensorType::u32, 4u, 5u), 3u);
  EXPECT_EQ(reduced(bit_xor, TensorType::u64, std::uint64_t{5}, std::uint64_t{3}), 6u);
}

TEST(Reduction, OfSmallFloatsRoundsOnce) {
  using enum ReduceOp;
  const std::uint16_t one = 0x3c00;
  EXPECT_EQ(reduced<std::uint16_t>(add, TensorType::f16, one, 0x1000), one) << "tie to even";
  EXPECT_EQ(reduced<std::uint16_t>(add, TensorType::f16, one, 0x1001), 0x3c01);
  EXPECT_EQ(reduced<std::uint16_t>(add, TensorType::f16, 0x0001, 0x0001), 0x0002) << "subnormal";
  EXPECT_EQ(reduced<std::uint16_t>(add, TensorType::f16, 0x7bff, 0x7bff), 0x7c00);
  EXPECT_EQ(reduced<std::uint16_t>(add, TensorType::bf16, 0x3f80, 0x3b80), 0x3f80);
  EXPECT_EQ(reduced<std::uint16_t>(min, TensorType::f16, 0x0000, 0x8000), 0x8000);
  EXPECT_EQ(reduced<std::uint16_t>(max, TensorType::bf16, 0x7fc0, 0x3f80), 0x3f80);
}

TEST(Reduction, HalvesRoundToTheNearest) {
  EXPECT_EQ(F16::round(65519), 0x7bffu);
  EXPECT_EQ(F16::round(65520), 0x7c00u);
}

TEST(Reduction, EveryF16IsItsOwnValue) {
  for (std::uint32_t h = 0; h < 0x10000; ++h) {
    const auto bits = static_cast<std::uint16_t>(h);
    if ((h & 0x7fff) > F16::infinity) {
      EXPECT_TRUE(std::isnan(F16::value(bits)));
      EXPECT_EQ(F16::round(F16::value(bits)), F16::nan);
    } else {
      EXPECT_EQ(F16::round(F16::value(bits)), bits);
    }
  }
}

TEST(Reduction, RoundsToTf32) {
  EXPECT_EQ(round_to_tf32(0x3f800fff), 0x3f800000u);
  EXPECT_EQ(round_to_tf32(0x3f801000), 0x3f800000u) << "tie to even";
  EXPECT_EQ(round_to_tf32(0x3f801001), 0x3f802000u);
  EXPECT_EQ(round_to_tf32(0x3f803000), 0x3f804000u) << "tie to even";
  EXPECT_EQ(round_to_tf32(0x7f7fffff), 0x7f800000u);
  EXPECT_EQ(round_to_tf32(0x7f800001), 0x7fffe000u);
  EXPECT_EQ(round_to_tf32(0xff800000), 0xff800000u);
}

TEST(Reduction, FlushesSubnormalsWhereTheTypeSaysSo) {
  using enum ReduceOp;
  const std::uint32_t least_normal = 0x00800000;
  EXPECT_EQ(reduced<std::uint32_t>(add, TensorType::f32, 1, 1), 2u);
  EXPECT_EQ(reduced<std::uint32_t>(add, TensorType::f32_ftz, 1, 1), 0u);
  EXPECT_EQ(reduced<std::uint32_t>(add, TensorType::tf32, 1, least_normal), least_normal + 1);
  EXPECT_EQ(reduced<std::uint32_t>(add, TensorType::tf32_ftz, 1, least_normal), least_normal);
}

TEST(Reduction, KeepsTheBitsOfAnF64NaN) {
  using enum ReduceOp;
  const std::uint64_t one = 0x3ff0000000000000, infinity = 0x7ff0000000000000,
                      signaling = 0x7ff0000000000001, quiet = 0xfff8000000000123,
                      sign = std::uint64_t{1} << 63;
  EXPECT_EQ(reduced(add, TensorType::f64, one, signaling), signaling);
  EXPECT_EQ(reduced(add, TensorType::f64, quiet, one), quiet);
  EXPECT_EQ(reduced(add, TensorType::f64, quiet, signaling), signaling) << "the operand's first";
  EXPECT_EQ(reduced(add, TensorType::f64, infinity, infinity | sign), 0xfff8000000000000u);
}

TEST(Reduction, IsAtomicAgainstOtherThreads) {
  constexpr int rounds = 2000;
  alignas(16) std::uint32_t counters[4] = {};
  const std::vector<std::uint32_t> ones(4, 1);
  const auto work = [&] {
    for (int i = 0; i < rounds; ++i)
      reduction(ReduceOp::add, TensorType::u32)(reinterpret_cast<std::byte*>(counters),
                                                reinterpret_cast<const std::byte*>(ones.data()),
                                                16);
  };
  std::thread other(work);
  work();
  other.join();
  for (std::uint32_t counter : counters) EXPECT_EQ(counter, 2u * rounds);
}

}  // namespace
}  // namespace inflight::async
