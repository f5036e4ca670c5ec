// The variables that programs started with another environment get from ours.
#include "gpu/loader/inherited_variables.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "gpu/loader/jump.hpp"

namespace inflight::loader {
namespace {

using testing::ElementsAre;
using Texts = std::vector<std::string>;

std::vector<const char*> environment_of(const Texts& texts) {
  std::vector<const char*> result;
  for (const std::string& each : texts) result.push_back(each.c_str());
  result.push_back(nullptr);
  return result;
}

Texts joined(const InheritedVariables& inherited, const Texts& texts) {
  const auto environment = environment_of(texts);
  const std::size_t count = count_of(environment.data()) + inherited.missing(environment.data());
  std::vector<const char*> all(count + 1, "untouched");
  inherited.join(environment.data(), all.data());
  EXPECT_EQ(all.back(), nullptr);
  return {all.begin(), all.end() - 1};
}

TEST(InheritedVariables, WhatIsOursIsAddedWhereItLacks) {
  InheritedVariables inherited;
  inherited.keep(environment_of({"HOME=/root", "LD_AUDIT=/a.so", "INFLIGHT_DEVICE=a100",
                                 "TRITON_PTXAS_PATH=/p", "LD_LIBRARY_PATH=/l",
                                 "INFLIGHT_ASYNC=early", "PATH=/bin"})
                     .data());
  EXPECT_THAT(joined(inherited, {"A=1", "INFLIGHT_ASYNC=late"}),
              ElementsAre("A=1", "INFLIGHT_ASYNC=late", "LD_AUDIT=/a.so", "INFLIGHT_DEVICE=a100",
                          "TRITON_PTXAS_PATH=/p"));
  EXPECT_EQ(inherited.missing(nullptr), 4u);
  EXPECT_EQ(
      inherited.missing(environment_of({"LD_AUDITOR=1", "LD_AUDI=1", "INFLIGHT_ASYNCH=1"}).data()),
      4u);
}

TEST(InheritedVariables, NothingIsAddedWhereTheModuleIsChosen) {
  InheritedVariables inherited;
  inherited.keep(environment_of({"LD_AUDIT=/a.so", "INFLIGHT_DEVICE=a100"}).data());
  EXPECT_EQ(inherited.missing(environment_of({"LD_AUDIT="}).data()), 0u);
  EXPECT_EQ(inherited.missing(environment_of({"LD_AUDIT=/other.so"}).data()), 0u);
}

TEST(InheritedVariables, CopiesOutliveTheEnvironment) {
  InheritedVariables inherited;
  Texts all = {"LD_AUDIT=/a.so"};
  inherited.keep(environment_of(all).data());
  all[0].assign(all[0].size(), '-');
  EXPECT_THAT(joined(inherited, {}), ElementsAre("LD_AUDIT=/a.so"));
}

TEST(InheritedVariables, WhatDoesNotFitIsLeftOut) {
  InheritedVariables inherited;
  inherited.keep(
      environment_of({"INFLIGHT_LONG=" + std::string(20000, 'x'), "LD_AUDIT=/a.so"}).data());
  EXPECT_THAT(joined(inherited, {}), ElementsAre("LD_AUDIT=/a.so"));
}

TEST(FarJump, HoldsTheWholeAddress) {
  EXPECT_THAT(far_jump(0x1122334455667788), ElementsAre(0x49, 0xBB, 0x88, 0x77, 0x66, 0x55, 0x44,
                                                        0x33, 0x22, 0x11, 0x41, 0xFF, 0xE3));
}

}  // namespace
}  // namespace inflight::loader
