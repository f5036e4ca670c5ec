// Which libraries' kernels have no PTX.
#include "gpu/loader/machine_code.hpp"

#include <gtest/gtest.h>

#include "gpu/loader/host.hpp"

namespace inflight::loader {
namespace {

bool lacks(const char* path) { return lacks_ptx(MappedFile(path).bytes()); }

TEST(MachineCode, OnlyALibraryThatKeepsKernelsWithoutPtxLacksIt) {
  EXPECT_TRUE(lacks(INFLIGHT_FAT_MACHINE_CODE));
  EXPECT_FALSE(lacks(INFLIGHT_FAT_PTX));
  EXPECT_FALSE(lacks(INFLIGHT_SAMPLE));
  EXPECT_FALSE(lacks("/no/such/file"));
}

}  // namespace
}  // namespace inflight::loader
