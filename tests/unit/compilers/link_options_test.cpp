// The options of nvJitLinkCreate, with the error codes of NVIDIA's 13.5.
#include "gpu/compilers/link_options.hpp"

#include <gtest/gtest.h>

namespace inflight::compilers {
namespace {

LinkStatus status_of(std::vector<const char*> words) {
  auto options = read_link_options(words);
  if (options) return LinkStatus::success;
  EXPECT_FALSE(options.error().message.empty());
  return options.error().status;
}

TEST(LinkOptions, Right) {
  for (std::vector<const char*> words : std::vector<std::vector<const char*>>{
           {"-arch=sm_90"},
           {"-arch=sm_100a", "-lto", "-O3", "-g", "-Xptxas=-v", "-ftz=true", "-split-compile=0"},
           {"-arch=compute_90", "-lto", "-ptx", "-kernels-used=k", "-no-cache"},
           {"-lto", "-ptx", "-arch=sm_90", "-maxrregcount=32"}})
    EXPECT_EQ(status_of(words), LinkStatus::success) << words[0];
  const char* words[] = {"-arch=sm_90a", "-lto", "-maxrregcount=32"};
  const auto options = read_link_options(words);
  EXPECT_EQ(options->architecture, (cuda::Architecture{90, true, false}));
  EXPECT_TRUE(options->lto);
  EXPECT_FALSE(options->ptx);
  EXPECT_EQ(options->registers, 32u);
}

TEST(LinkOptions, Wrong) {
  EXPECT_EQ(status_of({}), LinkStatus::missing_arch);
  EXPECT_EQ(status_of({"-arch=foo"}), LinkStatus::unrecognized_option);
  EXPECT_EQ(status_of({"-arch", "sm_90"}), LinkStatus::unrecognized_option);
  EXPECT_EQ(status_of({"-arch=sm_90", "-bogus"}), LinkStatus::unrecognized_option);
  EXPECT_EQ(status_of({"-arch=sm_90", "-O2"}), LinkStatus::unrecognized_option);
  EXPECT_EQ(status_of({"-arch=sm_90", "-ptx"}), LinkStatus::incompatible_options);
  EXPECT_EQ(status_of({"-arch=compute_90", "-lto"}), LinkStatus::incompatible_options);
  EXPECT_EQ(status_of({"-arch=sm_90", nullptr}), LinkStatus::null_input);
}

}  // namespace
}  // namespace inflight::compilers
