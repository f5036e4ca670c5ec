// Tensor maps through the driver API: every way to the calls, their codes and their messages.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using Handle = void*;
enum Code { success = 0, invalid_value = 1, invalid_context = 201, not_supported = 801 };
enum Type { u8 = 0, f32 = 7, packed_u4 = 13 };
enum Layout { no_slices = 0, slices_of_32 = 2 };
enum Swizzle { no_swizzle = 0, swizzle_32 = 1, swizzle_64 = 2, swizzle_of_atoms = 4 };

using Tiled = int(void*, unsigned, unsigned, void*, const std::uint64_t*, const std::uint64_t*,
                  const std::uint32_t*, const std::uint32_t*, unsigned, unsigned, unsigned,
                  unsigned);

}  // namespace

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuCtxSetCurrent(Handle);
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);
Tiled cuTensorMapEncodeTiled;
int cuTensorMapEncodeIm2col(void*, unsigned, unsigned, void*, const std::uint64_t*,
                            const std::uint64_t*, const int*, const int*, unsigned, unsigned,
                            const std::uint32_t*, unsigned, unsigned, unsigned, unsigned);
int cuTensorMapEncodeIm2colWide(void*, unsigned, unsigned, void*, const std::uint64_t*,
                                const std::uint64_t*, int, int, unsigned, unsigned,
                                const std::uint32_t*, unsigned, unsigned, unsigned, unsigned,
                                unsigned);
int cuTensorMapReplaceAddress(void*, void*);
}

namespace {

struct alignas(64) Map {
  std::array<unsigned char, 128> bytes{};
  bool operator==(const Map&) const = default;
};

// A legal encoding. Each test breaks it in one place.
struct Request {
  unsigned type = f32, rank = 2;
  std::uintptr_t global = 0x10000;
  std::uint64_t dims[5] = {64, 32, 8, 4, 2};
  std::uint64_t strides[4] = {256, 8192, 65536, 262144};
  std::uint32_t box[5] = {16, 8, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
  int lower[3] = {-1, -1, -1}, upper[3] = {1, 1, 1};
  unsigned channels = 16, pixels = 32;
  unsigned interleave = no_slices, swizzle = no_swizzle, promotion = 0, fill = 0;

  int tiled(void* map, Tiled* call = cuTensorMapEncodeTiled) const {
    return call(map, type, rank, reinterpret_cast<void*>(global), dims, strides, box, steps,
                interleave, swizzle, promotion, fill);
  }
  int im2col(void* map) const {
    return cuTensorMapEncodeIm2col(map, type, rank, reinterpret_cast<void*>(global), dims, strides,
                                   lower, upper, channels, pixels, steps, interleave, swizzle,
                                   promotion, fill);
  }
};

class TensorMaps : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), success);
    Handle context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), success);
    ASSERT_EQ(cuCtxSetCurrent(context), success);
  }
  // The status and the message of `call`.
  template <class Call>
  std::pair<int, std::string> heard(Call call) {
    testing::internal::CaptureStderr();
    const int code = call();
    return {code, testing::internal::GetCapturedStderr()};
  }
  Map map;
};

TEST_F(TensorMaps, EveryWayLeadsToTheSameCall) {
  Map linked, looked_up, by_handle;
  const Request request;
  ASSERT_EQ(request.tiled(&linked), success);
  EXPECT_NE(linked, Map{});

  void* found = nullptr;
  int query = -1;
  ASSERT_EQ(cuGetProcAddress_v2("cuTensorMapEncodeTiled", &found, 12000, 0, &query), success);
  EXPECT_EQ(query, 0);
  ASSERT_EQ(request.tiled(&looked_up, reinterpret_cast<Tiled*>(found)), success);
  EXPECT_EQ(looked_up, linked);

  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  found = dlsym(library, "cuTensorMapEncodeTiled");
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(request.tiled(&by_handle, reinterpret_cast<Tiled*>(found)), success);
  EXPECT_EQ(by_handle, linked);
  dlclose(library);
}

TEST_F(TensorMaps, ABrokenRuleIsNamedWithArgumentIndexAndValue) {
  Request request;
  request.strides[0] = 12;
  const auto [code, text] = heard([&] { return request.tiled(&map); });
  EXPECT_EQ(code, invalid_value);
  EXPECT_EQ(text,
            "inflight: cuTensorMapEncodeTiled: globalStrides[0] = 12 must be a multiple of 16\n");
  EXPECT_EQ(map, Map{});
}

// As in an H200's driver: only a copy that uses the map detects its misalignment.
TEST_F(TensorMaps, TheMapMayLieAnywhereButNowhere) {
  const Request request;
  std::array<Map, 2> maps;
  EXPECT_EQ(request.tiled(&map), success);
  ASSERT_EQ(request.tiled(maps[0].bytes.data() + 32), success);
  EXPECT_EQ(std::memcmp(maps[0].bytes.data() + 32, map.bytes.data(), sizeof map), 0);
  const auto [code, text] = heard([&] { return request.tiled(nullptr); });
  EXPECT_EQ(code, invalid_value);
  EXPECT_THAT(text, testing::HasSubstr("tensorMap = null"));
}

TEST_F(TensorMaps, Im2colHasRulesOfItsOwn) {
  Request request;
  request.rank = 4;
  EXPECT_EQ(request.im2col(&map), success);
  const Map good = map;
  request.lower[1] = -129;
  const auto [code, text] = heard([&] { return request.im2col(&map); });
  EXPECT_EQ(code, invalid_value);
  EXPECT_THAT(text,
              testing::StartsWith(
                  "inflight: cuTensorMapEncodeIm2col: pixelBoxLowerCorner[1] = -129 must be"));
  EXPECT_EQ(map, good);
}

TEST_F(TensorMaps, WhatOnlyNewerDevicesHaveIsRefused) {
  const Request r;
  const auto [code, text] = heard([&] {
    return cuTensorMapEncodeIm2colWide(&map, r.type, 3, reinterpret_cast<void*>(r.global), r.dims,
                                       r.strides, 0, 0, 16, 32, r.steps, 0, 0, 0, 0, 0);
  });
  EXPECT_EQ(code, invalid_value);
  EXPECT_EQ(text,
            "inflight: cuTensorMapEncodeIm2colWide needs compute capability 10.0 or higher\n");
  Request request;
  request.type = packed_u4;
  EXPECT_EQ(request.tiled(&map), invalid_value);
  request = {};
  request.swizzle = swizzle_of_atoms;
  EXPECT_EQ(request.tiled(&map), invalid_value);
}

TEST_F(TensorMaps, AnAddressIsReplacedInPlace) {
  Request request;
  ASSERT_EQ(request.tiled(&map), success);
  Map other;
  request.global = 0x7f0000000040;
  ASSERT_EQ(request.tiled(&other), success);
  ASSERT_NE(map, other);
  ASSERT_EQ(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(request.global)), success);
  EXPECT_EQ(map, other);
}

TEST_F(TensorMaps, AReplacedAddressKeepsTheRules) {
  Request request;
  ASSERT_EQ(request.tiled(&map), success);
  const Map before = map;
  const auto replace = [&](void* at, std::uintptr_t address) {
    return heard([=] { return cuTensorMapReplaceAddress(at, reinterpret_cast<void*>(address)); });
  };
  auto [code, text] = replace(&map, 0x1008);
  EXPECT_EQ(code, invalid_value);
  EXPECT_EQ(text,
            "inflight: cuTensorMapReplaceAddress: globalAddress = 0x1008 must be aligned to 16 "
            "bytes\n");
  EXPECT_EQ(map, before);

  request = {.type = u8, .rank = 3, .interleave = slices_of_32, .swizzle = swizzle_32};
  ASSERT_EQ(request.tiled(&map), success);
  std::tie(code, text) = replace(&map, 0x1010);
  EXPECT_EQ(code, invalid_value);
  EXPECT_THAT(text, testing::HasSubstr("aligned to 32 bytes for CU_TENSOR_MAP_INTERLEAVE_32B"));

  Map garbage;
  garbage.bytes.fill(0x5a);
  std::tie(code, text) = replace(&garbage, 0x1000);
  EXPECT_EQ(code, invalid_value);
  EXPECT_THAT(text, testing::HasSubstr("are not a tensor map"));
  EXPECT_EQ(replace(nullptr, 0x1000).first, invalid_value);
  Map two[2] = {map, map};
  EXPECT_EQ(replace(two[0].bytes.data() + 16, 0x1000).first, invalid_value);  // not where it begins
}

TEST(TensorMapsElsewhere, OlderDevicesHaveNone) {
  setenv("INFLIGHT_DEVICE", "a100", 1);
  Handle context = nullptr;
  ASSERT_EQ(cuInit(0), success);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), success);
  ASSERT_EQ(cuCtxSetCurrent(context), success);
  Map map;
  testing::internal::CaptureStderr();
  EXPECT_EQ(Request{}.tiled(&map), not_supported);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("need a device of compute capability 9.0 or higher"));
}

TEST(TensorMapsElsewhere, NewerDevicesHaveMoreThanThisSoftwareGpu) {
  setenv("INFLIGHT_DEVICE", "b200", 1);
  Handle context = nullptr;
  ASSERT_EQ(cuInit(0), success);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), success);
  ASSERT_EQ(cuCtxSetCurrent(context), success);
  Map map;
  Request request;
  EXPECT_EQ(request.tiled(&map), success);
  request.type = packed_u4;
  testing::internal::CaptureStderr();
  EXPECT_EQ(request.tiled(&map), not_supported);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("not supported by the software GPU"));
}

}  // namespace
