// Tensor copies: runs compared with single elements, and properties of random copies.
#include "gpu/async/tensor_copy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "gpu/async/timing.hpp"

namespace inflight::async {
namespace {

// The source of one byte of shared memory: a global address, or out of range.
struct Origin {
  bool inside;
  std::uint64_t global;
  bool operator==(const Origin&) const = default;
};
using Origins = std::map<std::uint32_t, Origin>;  // by shared address

// One element at this position of the tensor and this place of the unswizzled box.
void put_element(const TensorMap& m, const std::int64_t (&position)[5], std::uint64_t place,
                 Origins& origins) {
  bool inside = true;
  std::uint64_t global = m.global_address;
  for (std::uint32_t d = 0; d < m.rank; ++d) {
    inside &= position[d] >= 0 && static_cast<std::uint64_t>(position[d]) < m.dim[d];
    global += static_cast<std::uint64_t>(position[d]) * (d == 0 ? m.element_bytes() : m.stride[d]);
  }
  for (std::uint32_t byte = 0; byte < m.element_bytes(); ++byte) {
    const auto at = swizzle(m.swizzle, static_cast<std::uint32_t>(place + byte));
    ASSERT_TRUE(origins.emplace(at, Origin{inside, inside ? global + byte : 0}).second);
  }
}

std::uint32_t row_pitch(const TensorMap& m, std::uint32_t elements) {
  const std::uint32_t bytes = elements * m.element_bytes();
  return m.swizzle == Swizzle::none ? bytes : swizzle_span(m.swizzle);
}

// Tiles as PTX describes them: nested loops over the box, one element at a time.
Origins tile_by_elements(const TensorMap& m, const TensorPlace& p) {
  Origins origins;
  std::uint32_t row = 0;
  std::uint32_t step[5], end[5];
  for (int d = 0; d < 5; ++d) {
    step[d] = d == 0 ? 1 : m.element_stride[d];
    end[d] = d < static_cast<int>(m.rank) ? m.box[d] : 1;
  }
  for (std::uint32_t i4 = 0; i4 < end[4]; i4 += step[4])
    for (std::uint32_t i3 = 0; i3 < end[3]; i3 += step[3])
      for (std::uint32_t i2 = 0; i2 < end[2]; i2 += step[2])
        for (std::uint32_t i1 = 0; i1 < end[1]; i1 += step[1], ++row)
          for (std::uint32_t i0 = 0; i0 < end[0]; ++i0) {
            const std::int64_t position[5] = {
                std::int64_t{p.at[0]} + i0, std::int64_t{p.at[1]} + i1, std::int64_t{p.at[2]} + i2,
                std::int64_t{p.at[3]} + i3, std::int64_t{p.at[4]} + i4};
            put_element(m, position,
                        p.shared + row * row_pitch(m, m.box[0]) + i0 * m.element_bytes(), origins);
          }
  return origins;
}

// im2col as PTX describes it: all pixels of the bounding box of all images in order. The copy takes
// `pixels` from its start.
Origins column_by_elements(const TensorMap& m, const TensorPlace& p) {
  Origins origins;
  std::int64_t low[3] = {}, high[3] = {}, step[3] = {1, 1, 1}, start[3] = {};
  for (std::uint32_t s = 0; s + 2 < m.rank; ++s) {
    low[s] = m.lower_corner[s];
    high[s] = static_cast<std::int64_t>(m.dim[s + 1]) - 1 + m.upper_corner[s];
    step[s] = m.element_stride[s + 1];
    start[s] = p.at[s + 1];
  }
  std::uint32_t taken = 0;
  std::int64_t w = start[0], h = start[1], z = start[2], n = p.at[m.rank - 1];
  for (; taken < m.pixels; n += m.element_stride[m.rank - 1], z = low[2])
    for (; z <= high[2] && taken < m.pixels; z += step[2], h = low[1])
      for (; h <= high[1] && taken < m.pixels; h += step[1], w = low[0])
        for (; w <= high[0] && taken < m.pixels; w += step[0], ++taken)
          for (std::uint32_t c = 0; c < m.channels; ++c) {
            std::int64_t position[5] = {std::int64_t{p.at[0]} + c};
            const std::int64_t spatial[3] = {w, h, z};
            for (std::uint32_t s = 0; s + 2 < m.rank; ++s)
              position[s + 1] = spatial[s] + p.offset[s];
            position[m.rank - 1] = n;
            put_element(m, position,
                        p.shared + taken * row_pitch(m, m.channels) + c * m.element_bytes(),
                        origins);
          }
  return origins;
}

Origins by_runs(const TensorMap& m, const TensorPlace& p) {
  Origins origins;
  for_each_run(m, p, TensorDirection::load, [&](const TensorRun& run) {
    for (std::uint32_t i = 0; i < run.bytes; ++i) {
      const Origin origin{run.inside, run.inside ? run.global + i : 0};
      EXPECT_TRUE(origins.emplace(run.shared + i, origin).second) << "a byte is moved twice";
    }
  });
  return origins;
}

constexpr std::uint64_t arena = 1 << 16;

struct Copy {
  TensorMap map;
  TensorPlace place;
};

// Small tensors without overlapping elements, with copies inside, across and past their edges.
Copy random_copy(Random& r, TensorMode mode) {
  Copy c;
  TensorMap& m = c.map;
  m.mode = mode;
  m.type = static_cast<TensorType>(r.below(tensor_type_count));
  m.rank = mode == TensorMode::tile ? 1 + r.below(5) : 3 + r.below(3);
  m.swizzle = static_cast<Swizzle>(r.below(4));
  const std::uint32_t chunks = m.swizzle == Swizzle::none ? 5 : swizzle_span(m.swizzle) / 16;
  m.stride[0] = m.element_bytes();
  m.box[0] = m.channels = 16 * (1 + r.below(chunks)) / m.element_bytes();
  m.dim[0] = 1 + r.below(2 * m.box[0]);
  std::uint64_t extent = (m.dim[0] * m.element_bytes() + 15) / 16 * 16;
  for (std::uint32_t d = 1; d < m.rank; ++d) {
    m.box[d] = 1 + r.below(4);
    m.element_stride[d] = 1 + (r.below(2) ? r.below(3) : 0);
    m.stride[d] = extent + 16 * r.below(3);
    m.dim[d] = 1 + r.below(4);
    extent = m.stride[d] * m.dim[d];
  }
  m.pixels = 1 + r.below(20);
  for (std::uint32_t s = 0; s + 2 < m.rank; ++s) {
    m.lower_corner[s] = static_cast<std::int32_t>(r.below(4)) - 2;
    m.upper_corner[s] = m.lower_corner[s] + static_cast<std::int32_t>(r.below(3));
    c.place.offset[s] = static_cast<std::uint16_t>(r.below(3));
  }
  for (std::uint32_t d = 0; d < m.rank; ++d)
    c.place.at[d] =
        static_cast<std::int32_t>(r.below(2 * m.box[d] + 4)) - static_cast<std::int32_t>(m.box[d]);
  if (mode == TensorMode::im2col)
    for (std::uint32_t s = 0; s + 2 < m.rank; ++s) {
      const auto span = static_cast<std::uint32_t>(static_cast<std::int64_t>(m.dim[s + 1]) +
                                                   m.upper_corner[s] - m.lower_corner[s]);
      c.place.at[s + 1] = m.lower_corner[s] + static_cast<std::int32_t>(r.below(span));
    }
  c.place.shared = 128 * r.below(16);
  EXPECT_LE(extent, arena);
  return c;
}

TEST(TensorCopy, RunsAreTheElementsOfTiles) {
  Random r(1);
  for (int i = 0; i < 3000 && !::testing::Test::HasFailure(); ++i) {
    const Copy c = random_copy(r, TensorMode::tile);
    ASSERT_EQ(by_runs(c.map, c.place), tile_by_elements(c.map, c.place)) << "copy " << i;
  }
}

TEST(TensorCopy, RunsAreTheElementsOfColumns) {
  Random r(2);
  for (int i = 0; i < 2000 && !::testing::Test::HasFailure(); ++i) {
    const Copy c = random_copy(r, TensorMode::im2col);
    ASSERT_EQ(by_runs(c.map, c.place), column_by_elements(c.map, c.place)) << "copy " << i;
  }
}

TEST(TensorCopy, EveryByteOfTheBoxCounts) {
  Random r(3);
  for (int i = 0; i < 500; ++i) {
    const Copy c = random_copy(r, r.below(2) ? TensorMode::tile : TensorMode::im2col);
    std::uint64_t bytes = 0;
    for_each_run(c.map, c.place, TensorDirection::load,
                 [&](const TensorRun& run) { bytes += run.bytes; });
    EXPECT_EQ(bytes, box_of(c.map).tx_bytes());
  }
}

struct Memories {
  std::vector<std::byte> global = std::vector<std::byte>(arena);
  std::vector<std::byte> shared = std::vector<std::byte>(1 << 17, std::byte{0xee});
  explicit Memories(Random& r) {
    for (std::byte& b : global) b = std::byte(r.next() & 0x3f);  // no value that a type changes
  }
  TensorMemory bases() { return {shared.data(), global.data()}; }
};

bool keeps_bits(TensorType type) {
  return type != TensorType::tf32 && type != TensorType::tf32_ftz;
}

TEST(TensorCopy, WhatALoadBroughtAStorePutsBack) {
  Random r(4);
  for (int i = 0; i < 500; ++i) {
    Copy c = random_copy(r, TensorMode::tile);
    if (!keeps_bits(c.map.type)) continue;
    // Stores write whole chunks, which no row may end within.
    const std::uint32_t elements = swizzle_chunk / c.map.element_bytes();
    c.map.dim[0] = (c.map.dim[0] + elements - 1) / elements * elements;
    Memories m(r);
    tensor_load(c.map, c.place, m.bases());
    const std::vector<std::byte> before = m.global;
    for_each_run(c.map, c.place, TensorDirection::load, [&](const TensorRun& run) {
      if (run.inside) std::memset(m.global.data() + run.global, 0xff, run.bytes);
    });
    tensor_store(c.map, c.place, m.bases());
    ASSERT_EQ(m.global, before) << "copy " << i;
  }
}

TEST(TensorCopy, OutOfRangeIsFilled) {
  TensorMap m;
  m.type = TensorType::f16;
  m.rank = 2;
  m.dim = {10, 2, 1, 1, 1};
  m.stride = {2, 32};
  m.box = {8, 3, 1, 1, 1};
  Random r(5);
  for (OobFill fill : {OobFill::zero, OobFill::nan}) {
    m.fill = fill;
    Memories memories(r);
    tensor_load(m, {.at = {6, -1}}, memories.bases());
    const auto* elements = reinterpret_cast<const std::uint16_t*>(memories.shared.data());
    const std::uint16_t filler = fill == OobFill::zero ? 0 : 0x7ff7;
    for (int i = 0; i < 24; ++i) {
      const bool inside = i / 8 > 0 && i % 8 < 4;
      if (!inside) {
        EXPECT_EQ(elements[i], filler) << i;
      }
    }
    EXPECT_EQ(std::memcmp(elements + 8, memories.global.data() + 12, 8), 0);
    EXPECT_EQ(std::memcmp(elements + 16, memories.global.data() + 32 + 12, 8), 0);
  }
}

TEST(TensorCopy, AReductionEndsWithTheChunkOfTheLastElement) {
  TensorMap m;
  m.type = TensorType::u32;
  m.rank = 2;
  m.dim = {6, 2, 1, 1, 1};
  m.stride = {4, 32};
  m.box = {4, 2, 1, 1, 1};
  std::vector<std::uint32_t> global(64, 100), shared(64, 7);
  tensor_reduce(
      m, {.at = {4, 1}},
      {reinterpret_cast<std::byte*>(shared.data()), reinterpret_cast<std::byte*>(global.data())},
      reduction(ReduceOp::add, m.type));
  for (std::size_t i = 0; i < global.size(); ++i)
    EXPECT_EQ(global[i], i >= 12 && i < 16 ? 107u : 100u) << i;
}

TEST(TensorCopy, SlicesAreTakenOneByOne) {
  TensorMap m;  // W, H, slices of channels, N
  m.type = TensorType::u16;
  m.interleave = Interleave::b32;
  m.rank = 4;
  m.dim = {8, 8, 4, 2, 1};
  m.stride = {m.inner_bytes(), 256, 2048, 8192, 0};
  m.box = {16, 2, 3, 1, 1};
  m.element_stride = {2, 1, 1, 1, 1};
  EXPECT_EQ(box_of(m).tx_bytes(), 8u * 2 * 32) << "the box has one slice of channels";
  const Origins origins = by_runs(m, {.at = {-2, 1, 3, 1}});
  EXPECT_FALSE(origins.at(0).inside);
  EXPECT_EQ(origins.at(32), (Origin{true, 256 + 3 * 2048 + 8192}));
  EXPECT_EQ(origins.at(8 * 32 + 2 * 32 + 1), (Origin{true, 2 * 256 + 3 * 2048 + 8192 + 64 + 1}));
}

// Copies that fault on a GPU, with the rule that the model names.
TEST(TensorCopy, RulesAreNamed) {
  TensorMap tile;
  tile.type = TensorType::f32;
  tile.rank = 2;
  tile.dim = {64, 8, 1, 1, 1};
  tile.box = {8, 2, 1, 1, 1};
  using enum TensorDirection;
  const auto at = [](std::int32_t x, std::int32_t y) { return TensorPlace{.at = {x, y}}; };
  EXPECT_EQ(tensor_violation(tile, at(-4, -1), load), Violation::none);
  EXPECT_EQ(tensor_violation(tile, at(2, 0), load), Violation::tensor_start_alignment);
  EXPECT_EQ(tensor_violation(tile, at(-4, 0), store), Violation::tensor_negative_store);
  EXPECT_EQ(tensor_violation(tile, at(0, -1), store), Violation::tensor_negative_store);
  EXPECT_EQ(tensor_violation(tile, {.shared = 64}, load), Violation::tensor_shared_alignment);
  TensorMap column = tile;
  column.mode = TensorMode::im2col;
  column.rank = 3;
  column.channels = 8;
  column.lower_corner = {-1};
  EXPECT_EQ(tensor_violation(column, at(0, -1), load), Violation::none);
  EXPECT_EQ(tensor_violation(column, at(0, -2), load), Violation::tensor_start_outside);
  EXPECT_EQ(tensor_violation(column, at(0, 8), load), Violation::tensor_start_outside);
  EXPECT_EQ(tensor_violation(column, at(0, 0), store), Violation::tensor_store_bounds);
  column.lower_corner = {1};
  EXPECT_EQ(tensor_violation(column, at(0, 1), store), Violation::none);
}

TEST(TensorCopy, PositionsFarAwayAreOutOfRange) {
  TensorMap m;
  m.rank = 2;
  m.dim = {32, std::uint64_t{1} << 32, 1, 1, 1};
  m.stride = {1, 32};
  m.box = {16, 2, 1, 1, 1};
  for (std::int32_t at : {-2147483647 - 1, 2147483647})
    for_each_run(m, {.at = {at, 0}}, TensorDirection::load,
                 [](const TensorRun& run) { EXPECT_FALSE(run.inside); });
  std::vector<bool> inside;
  for_each_run(m, {.at = {0, 2147483647}}, TensorDirection::load,
               [&](const TensorRun& run) { inside.push_back(run.inside); });
  EXPECT_EQ(inside, (std::vector<bool>{true, true})) << "a dimension may have 2^32 elements";
}

}  // namespace
}  // namespace inflight::async
