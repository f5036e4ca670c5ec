// Parameters past the parameter space of a launch from before CUDA 4. NVIDIA's driver accepts them
// and crashes, so tests/kernels cannot test them.
#include <gtest/gtest.h>

using Handle = void*;

extern "C" {
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(Handle*, int);
int cuCtxSetCurrent(Handle);
int cuModuleLoadData(Handle*, const void*);
int cuModuleGetFunction(Handle*, Handle, const char*);
int cuParamSetSize(Handle, unsigned);
int cuParamSeti(Handle, int, unsigned);
int cuParamSetv(Handle, int, const void*, unsigned);
}

namespace {

constexpr int success = 0, invalid_value = 1;
constexpr int room = 32764;  // bytes; CUDA guide, kernel parameters

TEST(DriverOldLaunch, RefusesParametersOutsideTheirRoom) {
  Handle context, module, function;
  ASSERT_EQ(cuInit(0), success);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), success);
  ASSERT_EQ(cuCtxSetCurrent(context), success);
  ASSERT_EQ(cuModuleLoadData(&module,
                             ".version 7.0\n.target sm_70\n.address_size 64\n"
                             ".visible .entry nothing() { ret; }\n"),
            success);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "nothing"), success);
  const double value = 1;
  EXPECT_EQ(cuParamSetv(function, -4, &value, sizeof value), invalid_value);
  EXPECT_EQ(cuParamSetv(function, 0, nullptr, sizeof value), invalid_value);
  EXPECT_EQ(cuParamSetv(function, room - 4, &value, sizeof value), invalid_value);
  EXPECT_EQ(cuParamSeti(function, room - 4, 1), success);
  EXPECT_EQ(cuParamSeti(function, room, 1), invalid_value);
  EXPECT_EQ(cuParamSetSize(function, room), success);
  EXPECT_EQ(cuParamSetSize(function, room + 1), invalid_value);
}

}  // namespace
