// Tensor maps: the 128 bytes, and the fields that a program may replace.
#include "gpu/async/tensor_map.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

namespace inflight::async {
namespace {

TensorMap a_map() {
  TensorMap m;
  m.type = TensorType::f32;
  m.rank = 3;
  m.global_address = 0x7f0000001000;
  m.dim = {64, std::uint64_t{1} << 32, 3, 1, 1};
  m.stride = {4, 256, 4096, 0, 0};
  m.box = {16, 256, 2, 1, 1};
  m.element_stride = {1, 8, 2, 1, 1};
  m.swizzle = Swizzle::b64;
  m.l2_promotion = L2Promotion::b256;
  m.fill = OobFill::nan;
  return m;
}

TEST(TensorMap, SaysTheSameAfterPackingAndMoving) {
  const OpaqueTensorMap opaque = pack(a_map());
  char elsewhere[tensor_map_bytes + 1];  // at any alignment
  std::memcpy(elsewhere + 1, opaque.bytes.data(), tensor_map_bytes);
  const auto again = unpack(elsewhere + 1);
  ASSERT_TRUE(again) << again.error().sentence;
  EXPECT_EQ(*again, a_map());
}

TEST(TensorMap, KeepsTheIm2colFields) {
  TensorMap m = a_map();
  m.mode = TensorMode::im2col;
  m.channels = 16;
  m.pixels = 1024;
  m.lower_corner = {-32768, -128, -16};
  m.upper_corner = {32767, 127, 15};
  EXPECT_EQ(unpack(pack(m).bytes.data()).value(), m);
}

TEST(TensorMap, OtherBytesAreToldApart) {
  OpaqueTensorMap zeros;
  EXPECT_FALSE(unpack(zeros.bytes.data()));
  OpaqueTensorMap garbage;
  garbage.bytes.fill(std::byte{0xee});
  EXPECT_FALSE(unpack(garbage.bytes.data()));
  OpaqueTensorMap wrong = pack(a_map());
  wrong.bytes[0] ^= std::byte{1};
  EXPECT_FALSE(unpack(wrong.bytes.data()));
}

// A line of tests/gpu/tensor_map_bits.h100.txt.
struct OfAChip {
  TensorMap map;
  OpaqueTensorMap bytes;
};
OfAChip read_recorded(const std::string& line) {
  std::istringstream words(line);
  std::int64_t number = 0;
  const auto next = [&] {
    words >> number;
    return number;
  };
  const auto fill = [&](auto& array, std::size_t first = 0) {
    for (std::size_t i = first; i < array.size(); ++i)
      array[i] = static_cast<std::remove_reference_t<decltype(array[i])>>(next());
  };
  OfAChip result;
  TensorMap& m = result.map;
  m.mode = static_cast<TensorMode>(next());
  m.type = static_cast<TensorType>(next());
  m.rank = static_cast<std::uint32_t>(next());
  m.global_address = static_cast<std::uint64_t>(next());
  fill(m.dim);
  fill(m.stride, 1);
  fill(m.box);
  fill(m.element_stride);
  fill(m.lower_corner);
  fill(m.upper_corner);
  m.channels = static_cast<std::uint32_t>(next());
  m.pixels = static_cast<std::uint32_t>(next());
  m.interleave = static_cast<Interleave>(next());
  m.swizzle = static_cast<Swizzle>(next());
  m.l2_promotion = static_cast<L2Promotion>(next());
  m.fill = static_cast<OobFill>(next());
  m.stride[0] = m.inner_bytes();
  std::string hex;
  words >> hex;
  for (std::size_t i = 0; i < hex.size() / 2; ++i)
    result.bytes.bytes[i] = static_cast<std::byte>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return result;
}

TEST(TensorMap, AChipsLayoutIsRead) {
  std::ifstream file(INFLIGHT_SOURCE_DIR "/tests/gpu/tensor_map_bits.h100.txt");
  ASSERT_TRUE(file) << "tests/gpu/tensor_map_bits.h100.txt cannot be read";
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    SCOPED_TRACE(line);
    OfAChip recorded = read_recorded(line);
    // The rest of the bytes has no meaning. The CuTe DSL leaves what was on its stack.
    std::fill(recorded.bytes.bytes.begin() + 64, recorded.bytes.bytes.end(), std::byte{0xa5});
    const auto read = unpack(recorded.bytes.bytes.data());
    ASSERT_TRUE(read) << read.error().sentence;
    EXPECT_EQ(*read, recorded.map);
    ASSERT_TRUE(replace(recorded.bytes.bytes.data(), TensorMapField::global_address, 0, 0x4000));
    recorded.map.global_address = 0x4000;
    EXPECT_EQ(unpack(recorded.bytes.bytes.data()).value(), recorded.map);
    ++lines;
  }
  EXPECT_GE(lines, 50);
}

struct Write {
  TensorMapField field;
  std::uint32_t ordinal;
  std::uint64_t value;
  void (*change)(TensorMap&);
};

TEST(TensorMapReplace, ChangesOneField) {
  const Write writes[] = {
      {TensorMapField::global_address, 0, 0x5000, [](TensorMap& m) { m.global_address = 0x5000; }},
      {TensorMapField::rank, 0, 1, [](TensorMap& m) { m.rank = 2; }},
      {TensorMapField::box_dim, 1, 7, [](TensorMap& m) { m.box[1] = 7; }},
      {TensorMapField::global_dim, 0, 60, [](TensorMap& m) { m.dim[0] = 60; }},
      {TensorMapField::global_stride, 0, 512, [](TensorMap& m) { m.stride[1] = 512; }},
      {TensorMapField::global_stride, 3, 1 << 20, [](TensorMap& m) { m.stride[4] = 1 << 20; }},
      {TensorMapField::element_stride, 2, 5, [](TensorMap& m) { m.element_stride[2] = 5; }},
      {TensorMapField::swizzle_mode, 0, 3, [](TensorMap& m) { m.swizzle = Swizzle::b128; }},
      {TensorMapField::interleave_layout, 0, 1,
       [](TensorMap& m) { m.interleave = Interleave::b16, m.stride[0] = 16; }},
      {TensorMapField::fill_mode, 0, 0, [](TensorMap& m) { m.fill = OobFill::zero; }},
      {TensorMapField::elemtype, 0, 8, [](TensorMap& m) { m.type = TensorType::f32_ftz; }},
      {TensorMapField::elemtype, 0, 11, [](TensorMap& m) { m.type = TensorType::tf32; }},
  };
  for (const Write& write : writes) {
    OpaqueTensorMap opaque = pack(a_map());
    ASSERT_TRUE(replace(opaque.bytes.data(), write.field, write.ordinal, write.value));
    TensorMap expected = a_map();
    write.change(expected);
    const auto found = unpack(opaque.bytes.data());
    ASSERT_TRUE(found) << found.error().sentence;
    EXPECT_EQ(*found, expected) << static_cast<int>(write.field);
  }
}

TEST(TensorMapReplace, RefusesWhatAFieldCannotHold) {
  const Write writes[] = {
      {TensorMapField::rank, 0, 5, nullptr},
      {TensorMapField::box_dim, 5, 1, nullptr},
      {TensorMapField::box_dim, 0, 257, nullptr},
      {TensorMapField::box_dim, 0, 0, nullptr},
      {TensorMapField::global_dim, 0, 0, nullptr},
      {TensorMapField::global_stride, 4, 16, nullptr},
      {TensorMapField::element_stride, 0, 9, nullptr},
      {TensorMapField::elemtype, 0, 13, nullptr},
      {TensorMapField::swizzle_mode, 0, 4, nullptr},
      {TensorMapField::fill_mode, 0, 2, nullptr},
  };
  for (const Write& write : writes) {
    OpaqueTensorMap opaque = pack(a_map());
    const OpaqueTensorMap before = opaque;
    EXPECT_FALSE(replace(opaque.bytes.data(), write.field, write.ordinal, write.value));
    EXPECT_EQ(opaque.bytes, before.bytes);
  }
  OpaqueTensorMap junk;
  junk.bytes[127] = std::byte{1};
  EXPECT_FALSE(replace(junk.bytes.data(), TensorMapField::rank, 0, 1));
}

// As Triton's kernels create their maps.
TEST(TensorMapReplace, ZerosBecomeAMap) {
  OpaqueTensorMap opaque;
  EXPECT_FALSE(unpack(opaque.bytes.data()));
  const auto put = [&](TensorMapField field, std::uint32_t ordinal, std::uint64_t value) {
    ASSERT_TRUE(replace(opaque.bytes.data(), field, ordinal, value));
  };
  put(TensorMapField::global_address, 0, 0x40000);
  put(TensorMapField::rank, 0, 1);
  put(TensorMapField::box_dim, 0, 16);
  put(TensorMapField::box_dim, 1, 4);
  put(TensorMapField::global_dim, 0, 64);
  put(TensorMapField::global_dim, 1, 40);
  put(TensorMapField::global_stride, 0, 256);
  put(TensorMapField::element_stride, 0, 1);
  put(TensorMapField::element_stride, 1, 1);
  put(TensorMapField::elemtype, 0, 7);
  put(TensorMapField::interleave_layout, 0, 0);
  put(TensorMapField::swizzle_mode, 0, 2);
  put(TensorMapField::fill_mode, 0, 0);
  const auto map = unpack(opaque.bytes.data());
  ASSERT_TRUE(map) << map.error().sentence;
  TensorMap wanted;
  wanted.type = TensorType::f32;
  wanted.rank = 2;
  wanted.global_address = 0x40000;
  wanted.dim = {64, 40, 1, 1, 1};
  wanted.stride = {4, 256, 0, 0, 0};
  wanted.box = {16, 4, 1, 1, 1};
  wanted.swizzle = Swizzle::b64;
  EXPECT_EQ(*map, wanted);
}

TEST(TensorMapReplace, AMapThatContradictsItselfIsNoMap) {
  OpaqueTensorMap opaque = pack(a_map());  // rows of 64 bytes
  ASSERT_TRUE(replace(opaque.bytes.data(), TensorMapField::swizzle_mode, 0, 1));
  EXPECT_FALSE(unpack(opaque.bytes.data()));
  ASSERT_TRUE(replace(opaque.bytes.data(), TensorMapField::box_dim, 0, 8));
  EXPECT_TRUE(unpack(opaque.bytes.data()));
}

// --- bytes that no encoding produces ---

struct Forged {
  void (*change)(TensorMap&);
  const char* rule;
};

TEST(TensorMap, WhateverEncodingRefusesIsNoMap) {
  const Forged cases[] = {
      // 2^32 bytes and 2^32 rows, each of which is zero in 32 bits.
      {[](TensorMap& m) {
         m.type = TensorType::f64, m.rank = 4, m.box = {256, 256, 256, 32, 1};
         m.element_stride = {1, 1, 1, 1, 1}, m.swizzle = Swizzle::none;
       },
       "makes a box of more than 233472 bytes"},
      {[](TensorMap& m) {
         m.type = TensorType::u8, m.rank = 5, m.box = {16, 256, 256, 256, 256};
         m.element_stride = {1, 1, 1, 1, 1}, m.fill = OobFill::zero;
       },
       "makes a box of more than 233472 bytes"},
      {[](TensorMap& m) { m.box[1] = 257; }, "boxDim[1] = 257 must be from 1 to 256"},
      {[](TensorMap& m) { m.box[0] = 15; }, "must be a multiple of 16 bytes"},
      {[](TensorMap& m) { m.box[0] = 20; }, "must not exceed the span of the swizzle"},
      {[](TensorMap& m) { m.element_stride[2] = 0; }, "elementStrides[2] = 0 must be from 1 to 8"},
      {[](TensorMap& m) { m.rank = 0; }, "tensorRank = 0 must be from 1 to 5"},
      {[](TensorMap& m) { m.rank = 200; }, "tensorRank = 200 must be from 1 to 5"},
      {[](TensorMap& m) { m.type = TensorType(99); }, "is not a CUtensorMapDataType"},
      {[](TensorMap& m) { m.mode = TensorMode(2); }, "neither tile nor im2col"},
      {[](TensorMap& m) { m.interleave = Interleave(255); }, "is not a CUtensorMapInterleave"},
      {[](TensorMap& m) { m.swizzle = Swizzle(255); }, "is not a CUtensorMapSwizzle"},
      {[](TensorMap& m) { m.fill = OobFill(7); }, "is not a CUtensorMapFloatOOBfill"},
      {[](TensorMap& m) { m.l2_promotion = L2Promotion(4); }, "is not a CUtensorMapL2promotion"},
      {[](TensorMap& m) { m.global_address += 8; }, "must be aligned to 16 bytes"},
      {[](TensorMap& m) {
         m.interleave = Interleave::b32, m.global_address += 16, m.swizzle = Swizzle::b32;
       },
       "must be aligned to 32 bytes"},
      {[](TensorMap& m) { m.interleave = Interleave::b32, m.stride[1] = 272; },
       "must be a multiple of 32"},
      {[](TensorMap& m) { m.interleave = Interleave::b16, m.rank = 2; },
       "must be at least 3 for an interleaved layout"},
      {[](TensorMap& m) { m.stride[2] = 8; }, "globalStrides[1] = 8 must be a multiple of 16"},
      {[](TensorMap& m) { m.stride[2] = std::uint64_t{1} << 40; }, "must be less than 2^40"},
      {[](TensorMap& m) { m.type = TensorType::s32; }, "not floating-point"},
      {[](TensorMap& m) {
         m.mode = TensorMode::im2col, m.dim[1] = 100, m.channels = 16, m.pixels = 1025;
       },
       "pixelsPerColumn = 1025"},
      {[](TensorMap& m) { m.mode = TensorMode::im2col, m.dim[1] = 100, m.channels = 300; },
       "channelsPerPixel = 300"},
      {[](TensorMap& m) {
         m.mode = TensorMode::im2col, m.channels = 16, m.upper_corner[0] = -32768;
         m.dim[1] = 100;
       },
       "leaves a box without pixels"},
      {[](TensorMap& m) {
         m.mode = TensorMode::im2col, m.rank = 4, m.channels = 16, m.lower_corner[1] = -129;
       },
       "-128 to 127 for rank 4"},
      {[](TensorMap& m) { m.mode = TensorMode::im2col, m.rank = 2, m.channels = 16; },
       "tensorRank = 2 must be 3, 4 or 5"},
  };
  for (const Forged& c : cases) {
    TensorMap m = a_map();
    c.change(m);
    const auto read = unpack(pack(m).bytes.data());
    ASSERT_FALSE(read) << c.rule;
    EXPECT_NE(read.error().sentence.find(c.rule), std::string::npos) << read.error().sentence;
  }
}

TEST(TensorMaps, ReadAnewWhatChanged) {
  TensorMaps maps;
  OpaqueTensorMap opaque = pack(a_map());
  constexpr std::uint64_t address = 0x1000;
  const auto read = [&] { return maps.read(address, opaque.bytes.data()); };
  ASSERT_TRUE(read());
  EXPECT_EQ(**read(), a_map());
  ASSERT_TRUE(replace(opaque.bytes.data(), TensorMapField::box_dim, 1, 7));
  EXPECT_EQ((*read())->box[1], 7u);
  ASSERT_TRUE(replace(opaque.bytes.data(), TensorMapField::swizzle_mode, 0, 1));
  EXPECT_FALSE(read());
  ASSERT_TRUE(replace(opaque.bytes.data(), TensorMapField::swizzle_mode, 0, 2));
  EXPECT_EQ((*read())->box[1], 7u);
  // Another map with the same place in the table.
  OpaqueTensorMap nothing;
  EXPECT_FALSE(maps.read(address + (std::uint64_t{1} << 20), nothing.bytes.data()));
  EXPECT_FALSE(TensorMaps().read(0, nothing.bytes.data()));
}

// CUTLASS clears bit 21 of the second word for tensors under 128 KiB.
TEST(TensorMap, TheBitThatProgramsClearMeansNothing) {
  TensorMap map;
  map.global_address = ~std::uint64_t{15};
  map.dim[0] = map.box[0] = 16;
  OpaqueTensorMap opaque = pack(map);
  for (const std::uint64_t mask : {~(std::uint64_t{1} << 21), ~std::uint64_t{0}}) {
    std::uint64_t word = 0;
    std::memcpy(&word, opaque.bytes.data() + 8, sizeof word);
    word = mask == ~std::uint64_t{0} ? word | std::uint64_t{1} << 21 : word & mask;
    std::memcpy(opaque.bytes.data() + 8, &word, sizeof word);
    const auto read = unpack(opaque.bytes.data());
    ASSERT_TRUE(read) << read.error().sentence;
    EXPECT_EQ(read->global_address, map.global_address);
  }
}

}  // namespace
}  // namespace inflight::async
