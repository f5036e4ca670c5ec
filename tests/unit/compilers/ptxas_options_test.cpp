// The command line of ptxas.
#include "gpu/compilers/ptxas_options.hpp"

#include <gtest/gtest.h>

namespace inflight::compilers {
namespace {

using Action = PtxasOptions::Action;

TEST(PtxasOptions, AsTritonCallsIt) {
  const auto options = read_ptxas_options({"-lineinfo", "--fmad=false", "-v", "--opt-level", "0",
                                           "--regAllocOptLevel=2", "--gpu-name=sm_90a",
                                           "/tmp/a.ptx", "-o", "/tmp/a.ptx.o"});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->input, "/tmp/a.ptx");
  EXPECT_EQ(options->output, "/tmp/a.ptx.o");
}

TEST(PtxasOptions, AsPeopleCallIt) {
  const auto options =
      read_ptxas_options({"-arch", "sm_90", "-O", "3", "a.ptx", "--maxrregcount", "32"});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->input, "a.ptx");
  EXPECT_EQ(options->output, "elf.o");
  EXPECT_EQ(options->registers, 32u);
  EXPECT_EQ(read_ptxas_options({"--output-file=b", "a"})->output, "b");
}

TEST(PtxasOptions, Asks) {
  EXPECT_EQ(read_ptxas_options({"--version"})->action, Action::version);
  EXPECT_EQ(read_ptxas_options({"-V"})->action, Action::version);
  EXPECT_EQ(read_ptxas_options({"--help"})->action, Action::help);
}

TEST(PtxasOptions, BadOnesGetASentence) {
  EXPECT_EQ(read_ptxas_options({}).error().substr(0, 13), "No input file");
  EXPECT_EQ(read_ptxas_options({"a.ptx", "-o"}).error(), "Missing value for '-o'");
  EXPECT_EQ(read_ptxas_options({"a.ptx", "b.ptx"}).error(),
            "More than one input file: 'a.ptx' and 'b.ptx'");
  EXPECT_EQ(read_ptxas_options({"a.ptx", "--options-file", "x"}).error(),
            "The software GPU's ptxas does not support '--options-file'");
}

}  // namespace
}  // namespace inflight::compilers
