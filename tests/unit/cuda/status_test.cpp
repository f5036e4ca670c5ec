// Names and texts of errors, as in the CUDA 13.0 libraries.
#include "gpu/cuda/core/base/status.hpp"

#include <gtest/gtest.h>

namespace inflight::cuda {
namespace {

TEST(Statuses, HaveCudasNamesAndTexts) {
  EXPECT_EQ(runtime_error_name(0), "cudaSuccess");
  EXPECT_EQ(runtime_error_text(0), "no error");
  EXPECT_EQ(runtime_error_name(700), "cudaErrorIllegalAddress");
  EXPECT_EQ(runtime_error_text(700), "an illegal memory access was encountered");
  EXPECT_EQ(driver_error_name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(driver_error_text(2), "out of memory");
}

TEST(Statuses, BelongToOneApiOrBoth) {
  EXPECT_EQ(driver_error_name(9), "") << "invalid configuration is the runtime's alone";
  EXPECT_EQ(driver_error_text(9), "");
  EXPECT_EQ(runtime_error_name(916), "") << "key rotation is the driver's alone";
  EXPECT_EQ(runtime_error_name(123456), "");
  EXPECT_EQ(runtime_error_text(-1), "");
}

TEST(Statuses, OfOursAllHaveText) {
#define X(name, code) \
  EXPECT_FALSE(runtime_error_name(code).empty() && driver_error_name(code).empty()) << code;
  INFLIGHT_CUDA_STATUSES(X)
#undef X
}

}  // namespace
}  // namespace inflight::cuda
