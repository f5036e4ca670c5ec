// The instruction set is the one that INFLIGHT_ISA names, or the best.
#include "gpu/host/instruction_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace inflight::host {
namespace {

TEST(InstructionSet, IsUsableAndNamed) {
  const std::string_view name = name_of(instruction_set());
  std::printf("in use: %s\n", std::string(name).c_str());  // read by tests/unit/under.sh
  EXPECT_EQ(usable_instruction_set(name), instruction_set());
  EXPECT_THAT(usable_instruction_sets(), testing::HasSubstr(name));
}

TEST(InstructionSet, OfAnotherNameIsNotUsable) {
  for (const char* name : {"", "avx", "AVX2", "avx2 ", "baseline or avx2"})
    EXPECT_FALSE(usable_instruction_set(name)) << name;
}

// Runs in processes of its own, for the set is chosen once.
TEST(InstructionSet, IsTheOneThatTheVariableNames) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const char* name : {"baseline", "avx2", "avx512"}) {
    if (!usable_instruction_set(name)) continue;
    setenv("INFLIGHT_ISA", name, 1);
    EXPECT_EXIT(
        {
          std::fputs(std::string(name_of(instruction_set())).c_str(), stderr);
          std::_Exit(0);
        },
        testing::ExitedWithCode(0), std::string("^") + name + "$");
    unsetenv("INFLIGHT_ISA");
  }
}

}  // namespace
}  // namespace inflight::host
