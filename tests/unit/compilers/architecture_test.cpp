// Architectures in compilers' options.
#include "gpu/compilers/architecture.hpp"

#include <gmock/gmock.h>

namespace inflight::compilers {
namespace {

using testing::ElementsAre;

TEST(Target, Reads) {
  const auto plain = read_target("sm_90");
  ASSERT_TRUE(plain);
  EXPECT_TRUE(plain->machine_code);
  EXPECT_EQ(plain->architecture, (cuda::Architecture{90, false, false}));
  const auto specific = read_target("compute_100a");
  ASSERT_TRUE(specific);
  EXPECT_FALSE(specific->machine_code);
  EXPECT_EQ(specific->architecture, (cuda::Architecture{100, true, false}));
  EXPECT_EQ(read_target("sm_120f")->architecture, (cuda::Architecture{120, false, true}));
}

TEST(Target, RefusesWhatIsNone) {
  for (const char* text : {"", "sm_", "sm_x", "native", "sm_90b", "compute_", "lto_90", "sm_0"})
    EXPECT_FALSE(read_target(text)) << text;
}

TEST(Options, MachineCodeBecomesVirtual) {
  for (const char* name : {"-arch", "--gpu-architecture"}) {
    const std::string option = name;
    auto one = without_machine_code({"-G", option + "=sm_90a", "-I/sm_90"});
    EXPECT_THAT(one.words, ElementsAre("-G", option + "=compute_90a", "-I/sm_90"));
    EXPECT_TRUE(one.machine_code);
    auto two = without_machine_code({option, "sm_80", "sm_90"});
    EXPECT_THAT(two.words, ElementsAre(option, "compute_80", "sm_90"));
    EXPECT_TRUE(two.machine_code);
  }
}

TEST(Options, VirtualStays) {
  const std::vector<std::string> words{"-arch=compute_90", "-DX=sm_90", "-architecture=sm_90",
                                       "-arch"};
  const auto options = without_machine_code(words);
  EXPECT_EQ(options.words, words);
  EXPECT_FALSE(options.machine_code);
}

TEST(Options, RegistersAreRead) {
  EXPECT_EQ(without_machine_code({"--maxrregcount=40"}).registers, 40u);
  EXPECT_EQ(without_machine_code({"-maxrregcount", "32", "-arch=sm_90"}).registers, 32u);
  EXPECT_EQ(without_machine_code({"-maxrregcount=many"}).registers, 0u);
  EXPECT_EQ(without_machine_code({"-arch=sm_90"}).registers, 0u);
}

}  // namespace
}  // namespace inflight::compilers
