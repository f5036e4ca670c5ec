// The names that select a replacement of a CUDA library.
#include "gpu/loader/stand_ins.hpp"

#include <gtest/gtest.h>

#include <string>

namespace inflight::loader {
namespace {

std::string name_for(std::string_view path) {
  char name[64];
  return stand_in_name(path, name, sizeof name) ? name : "";
}

TEST(StandIns, WhateverPathIsAskedFor) {
  EXPECT_EQ(name_for("libcuda.so.1"), "libcuda.so.1");
  EXPECT_EQ(name_for("libcuda.so"), "libcuda.so.1");
  EXPECT_EQ(name_for("/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06"), "libcuda.so.1");
  EXPECT_EQ(name_for("libcudart.so"), "libcudart.so.13");
  EXPECT_EQ(name_for("/wheels/nvidia/cu13/lib/libcudart.so.13"), "libcudart.so.13");
  EXPECT_EQ(name_for("./libcudart.so.12.4.127"), "libcudart.so.12");
  EXPECT_EQ(name_for("libcudart-9335f6a2.so.12.4.127"), "libcudart.so.12");
  EXPECT_EQ(name_for("/a/libnvJitLink.so.13"), "libnvJitLink.so.13");
  EXPECT_EQ(name_for("libnvidia-ml.so.1"), "libnvidia-ml.so.1");
  EXPECT_EQ(name_for("/wheels/nvidia/cu13/lib/libcupti.so.13"), "libcupti.so.13");
  EXPECT_EQ(name_for("/wheels/nvidia/cu13/lib/libcublasLt.so.13"), "libcublasLt.so.13");
  EXPECT_EQ(name_for("libcublas.so.12"), "libcublas.so.12");
  EXPECT_EQ(name_for("libcublasXt.so.13"), "");
  EXPECT_EQ(name_for("libcufft.so"), "libcufft.so.12");
  EXPECT_EQ(name_for("/wheels/nvidia/cufft/lib/libcufft.so.11"), "libcufft.so.11");
  EXPECT_EQ(name_for("libcufftw.so.12"), "");
}

TEST(StandIns, ALibraryWithPtxIsNotReplacedByName) {
  char name[64];
  EXPECT_EQ(name_for("libcurand.so.10"), "");
  for (const char* each : {"libcurand.so", "/a/libcurand.so.10", "libcurand-0a1b.so.10.4.5.25"}) {
    ASSERT_TRUE(name_without_ptx(each, name, sizeof name)) << each;
    EXPECT_STREQ(name, "libcurand.so.10");
  }
  EXPECT_FALSE(name_without_ptx("libcublas.so.13", name, sizeof name));
}

TEST(StandIns, NoOtherLibraries) {
  for (const char* each :
       {"", "/", "libcuda", "libcuda.a", "libcudart_static.a", "libcuda.so.x",
        "libcudadebugger.so.1", "libcuda-.so.1", "libcuda-xyz.so.1", "libnvrtc-builtins.so.13.0",
        "libcusolver.so.12", "libcuda.so.1/", "mylibcuda.so.1", "libc.so.6"})
    EXPECT_EQ(name_for(each), "") << each;
}

TEST(StandIns, NamesThatDoNotFitAreNone) {
  char small[8];
  EXPECT_FALSE(stand_in_name("libcuda.so.1", small, sizeof small));
  EXPECT_EQ(name_for("libcudart.so." + std::string(100, '1')), "");
}

}  // namespace
}  // namespace inflight::loader
