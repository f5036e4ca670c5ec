// The rules of encoding tensor maps: each is broken once and gives its message.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>

#include "gpu/async/tensor_map_rules.hpp"

namespace inflight::async {
namespace {

// Arguments that own their arrays.
struct Given {
  alignas(64) std::array<char, 256> object{};
  std::array<std::uint64_t, 6> dim{64, 64, 64, 64, 64, 64}, stride{128, 8192, 524288, 33554432};
  std::array<std::uint32_t, 6> box{16, 4, 4, 4, 4, 4}, step{1, 1, 1, 1, 1, 1};
  std::array<std::int32_t, 3> lower{}, upper{};
  TiledArguments tiled;
  Im2colArguments im2col;

  Given() {
    tiled.tensor_map = object.data();
    tiled.data_type = 6;
    tiled.rank = 4;
    tiled.global_address = 0x10000;
    tiled.global_dim = dim.data();
    tiled.global_strides = stride.data();
    tiled.element_strides = step.data();
    tiled.box_dim = box.data();
    static_cast<EncodeArguments&>(im2col) = tiled;
    im2col.lower_corner = lower.data();
    im2col.upper_corner = upper.data();
    im2col.channels_per_pixel = 16;
    im2col.pixels_per_column = 64;
  }
};

template <class Change>
std::string tiled_sentence(Change change) {
  Given g;
  change(g, g.tiled);
  const auto map = encode_tiled(g.tiled);
  return map ? "" : map.error().sentence();
}
template <class Change>
std::string im2col_sentence(Change change) {
  Given g;
  change(g, g.im2col);
  const auto map = encode_im2col(g.im2col);
  return map ? "" : map.error().sentence();
}

TEST(TensorRules, LegalArgumentsBecomeTheMap) {
  Given g;
  g.step[2] = 3;
  g.tiled.swizzle = 1;
  g.tiled.oob_fill = 1;
  const auto map = encode_tiled(g.tiled);
  ASSERT_TRUE(map) << map.error().sentence();
  EXPECT_EQ(map->type, TensorType::f16);
  EXPECT_EQ(map->rank, 4u);
  EXPECT_EQ(map->stride[0], 2u);
  EXPECT_EQ(map->stride[2], 8192u);
  EXPECT_EQ(map->box[0], 16u);
  EXPECT_EQ(map->element_stride[2], 3u);
  EXPECT_EQ(map->swizzle, Swizzle::b32);
  EXPECT_EQ(map->fill, OobFill::nan);
  g.lower = {-1, 2};
  g.upper = {-3, 4};
  const auto column = encode_im2col(g.im2col);
  ASSERT_TRUE(column) << column.error().sentence();
  EXPECT_EQ(column->mode, TensorMode::im2col);
  EXPECT_EQ(column->lower_corner[1], 2);
  EXPECT_EQ(column->upper_corner[0], -3);
  EXPECT_EQ(column->pixels, 64u);
}

struct Broken {
  std::function<void(Given&, EncodeArguments&)> change;
  const char* sentence;
};

TEST(TensorRules, OfBothEncodings) {
  using A = EncodeArguments;
  const Broken broken[] = {
      {[](Given&, A& a) { a.tensor_map = nullptr; }, "tensorMap = null must not be null"},
      {[](Given&, A& a) { a.data_type = 13; },
       "tensorDataType = 13 is a packed type, which needs compute capability 10.0 or higher"},
      {[](Given&, A& a) { a.data_type = 16; }, "tensorDataType = 16 is not a CUtensorMapDataType"},
      {[](Given&, A& a) { a.interleave = 3; }, "interleave = 3 is not a CUtensorMapInterleave"},
      {[](Given&, A& a) { a.swizzle = 4; },
       "swizzle = 4 is a 128-byte swizzle of larger atoms, which needs compute capability 10.0 or "
       "higher"},
      {[](Given&, A& a) { a.swizzle = 7; }, "swizzle = 7 is not a CUtensorMapSwizzle"},
      {[](Given&, A& a) { a.l2_promotion = 4; }, "l2Promotion = 4 is not a CUtensorMapL2promotion"},
      {[](Given&, A& a) { a.oob_fill = 2; }, "oobFill = 2 is not a CUtensorMapFloatOOBfill"},
      {[](Given&, A& a) { a.rank = 0; }, "tensorRank = 0 must be from 1 to 5"},
      {[](Given&, A& a) { a.rank = 6; }, "tensorRank = 6 must be from 1 to 5"},
      {[](Given&, A& a) { a.rank = 2, a.interleave = 1; },
       "tensorRank = 2 must be at least 3 for an interleaved layout"},
      {[](Given&, A& a) { a.global_dim = nullptr; }, "globalDim = null must not be null"},
      {[](Given&, A& a) { a.global_strides = nullptr; }, "globalStrides = null must not be null"},
      {[](Given&, A& a) { a.element_strides = nullptr; }, "elementStrides = null must not be null"},
      {[](Given&, A& a) { a.global_address += 8; },
       "globalAddress = 0x10008 must be aligned to 16 bytes"},
      {[](Given&, A& a) { a.interleave = 2, a.swizzle = 1, a.global_address += 16; },
       "globalAddress = 0x10010 must be aligned to 32 bytes for CU_TENSOR_MAP_INTERLEAVE_32B"},
      {[](Given& g, A&) { g.dim[2] = 0; }, "globalDim[2] = 0 must be from 1 to 2^32"},
      {[](Given& g, A&) { g.dim[3] = 4294967297; },
       "globalDim[3] = 4294967297 must be from 1 to 2^32"},
      {[](Given& g, A&) { g.stride[0] = 12; }, "globalStrides[0] = 12 must be a multiple of 16"},
      {[](Given& g, A&) { g.stride[2] = std::uint64_t{1} << 40; },
       "globalStrides[2] = 1099511627776 must be less than 2^40"},
      {[](Given& g, A& a) { g.stride[1] = 48, a.interleave = 2, a.swizzle = 1; },
       "globalStrides[1] = 48 must be a multiple of 32 for CU_TENSOR_MAP_INTERLEAVE_32B"},
      {[](Given& g, A&) { g.step[1] = 9; }, "elementStrides[1] = 9 must be from 1 to 8"},
      {[](Given& g, A&) { g.step[3] = 0; }, "elementStrides[3] = 0 must be from 1 to 8"},
      {[](Given&, A& a) { a.data_type = 1, a.oob_fill = 1; },
       "oobFill = 1 must be CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE for a type that is not "
       "floating-point"},
  };
  for (const Broken& b : broken) {
    EXPECT_EQ(tiled_sentence(b.change), b.sentence);
    // A rank that im2col does not support may break that rule first.
    EXPECT_EQ(im2col_sentence(b.change), b.sentence);
  }
}

TEST(TensorRules, TheDriverTakesAnObjectOfAnyAlignment) {
  EXPECT_EQ(tiled_sentence([](Given& g, auto& a) { a.tensor_map = g.object.data() + 1; }), "");
}

TEST(TensorRules, OfTiles) {
  using A = TiledArguments;
  EXPECT_EQ(tiled_sentence([](Given&, A& a) { a.box_dim = nullptr; }),
            "boxDim = null must not be null");
  EXPECT_EQ(tiled_sentence([](Given& g, A&) { g.box[1] = 257; }),
            "boxDim[1] = 257 must be from 1 to 256");
  EXPECT_EQ(tiled_sentence([](Given& g, A&) { g.box[3] = 0; }),
            "boxDim[3] = 0 must be from 1 to 256");
  EXPECT_EQ(tiled_sentence([](Given& g, A&) { g.box[0] = 12; }),
            "boxDim[0] = 12 times the element size must be a multiple of 16 bytes");
  EXPECT_EQ(tiled_sentence([](Given& g, A& a) { g.box[0] = 24, a.swizzle = 1; }),
            "boxDim[0] = 24 times the element size must not exceed the span of the swizzle");
  EXPECT_EQ(tiled_sentence([](Given& g, A& a) { g.box[0] = 16, a.swizzle = 1; }), "");
  EXPECT_EQ(tiled_sentence([](Given& g, A&) { g.box[1] = g.box[2] = 256; }),
            "boxDim = 16 makes a box of more than 233472 bytes (elements times their size)");
  EXPECT_EQ(tiled_sentence([](Given& g, A&) {
              g.box[1] = g.box[2] = 255;
              g.step[1] = g.step[2] = 8;
            }),
            "");
}

TEST(TensorRules, OfIm2col) {
  using A = Im2colArguments;
  EXPECT_EQ(im2col_sentence([](Given&, A& a) { a.rank = 2; }), "tensorRank = 2 must be 3, 4 or 5");
  EXPECT_EQ(im2col_sentence([](Given&, A& a) { a.lower_corner = nullptr; }),
            "pixelBoxLowerCorner = null must not be null");
  const std::string range =
      " must be from -32768 to 32767 for rank 3, -128 to 127 for rank 4, -16 to 15 for rank 5";
  EXPECT_EQ(im2col_sentence([](Given& g, A&) { g.lower[1] = -129; }),
            "pixelBoxLowerCorner[1] = -129" + range);
  EXPECT_EQ(im2col_sentence([](Given& g, A& a) { g.upper[2] = 16, a.rank = 5; }),
            "pixelBoxUpperCorner[2] = 16" + range);
  EXPECT_EQ(im2col_sentence([](Given& g, A& a) { g.lower[0] = -32768, a.rank = 3; }), "");
  EXPECT_EQ(im2col_sentence([](Given& g, A&) { g.lower[1] = 60, g.upper[1] = -4; }),
            "pixelBoxUpperCorner[1] = -4 leaves a box without pixels");
  EXPECT_EQ(im2col_sentence([](Given& g, A&) { g.dim[2] = std::uint64_t{1} << 31; }),
            "pixelBoxUpperCorner[1] = 0 leaves a box without pixels");
  EXPECT_EQ(im2col_sentence([](Given& g, A& a) {
              g.lower[1] = 60, g.upper[1] = -4, g.dim[1] = 8, a.interleave = 1;
            }),
            "pixelBoxUpperCorner[1] = -4 leaves a box without pixels")
      << "slices: W comes first";
  EXPECT_EQ(im2col_sentence([](Given&, A& a) { a.channels_per_pixel = 264; }),
            "channelsPerPixel = 264 must be from 1 to 256");
  EXPECT_EQ(im2col_sentence([](Given&, A& a) { a.pixels_per_column = 1025; }),
            "pixelsPerColumn = 1025 must be from 1 to 1024");
  EXPECT_EQ(im2col_sentence([](Given&, A& a) { a.channels_per_pixel = 32, a.swizzle = 1; }),
            "channelsPerPixel = 32 times the element size must not exceed the span of the swizzle");
}

TEST(TensorRules, WideIm2colIsRefusedByName) {
  EXPECT_EQ(encode_im2col_wide().sentence(),
            "cuTensorMapEncodeIm2colWide needs compute capability 10.0 or higher");
  EXPECT_EQ(encode_im2col_wide().code, 1);
}

}  // namespace
}  // namespace inflight::async
