// Tensor maps: the 128 bytes, and the fields that a program may replace.
#include "gpu/async/tensor_map.hpp"

#include <gtest/gtest.h>

#include <cstring>

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
  ASSERT_TRUE(again) << again.error();
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
    ASSERT_TRUE(found) << found.error();
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
  OpaqueTensorMap zeros;
  EXPECT_FALSE(replace(zeros.bytes.data(), TensorMapField::rank, 0, 1));
}

TEST(TensorMapReplace, AMapThatContradictsItselfIsNoMap) {
  OpaqueTensorMap opaque = pack(a_map());  // rows of 64 bytes
  ASSERT_TRUE(replace(opaque.bytes.data(), TensorMapField::swizzle_mode, 0, 1));
  EXPECT_FALSE(unpack(opaque.bytes.data()));
  ASSERT_TRUE(replace(opaque.bytes.data(), TensorMapField::box_dim, 0, 8));
  EXPECT_TRUE(unpack(opaque.bytes.data()));
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
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->global_address, map.global_address);
  }
}

}  // namespace
}  // namespace inflight::async
