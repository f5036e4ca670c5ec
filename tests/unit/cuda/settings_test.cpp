// The INFLIGHT_ variables: their meaning, and the messages for bad values.
#include "gpu/cuda/core/base/settings.hpp"

#include <gmock/gmock.h>

#include <map>
#include <string>

namespace inflight::cuda {
namespace {

using testing::HasSubstr;

auto read(const std::map<std::string, std::string>& variables) {
  return read_settings([&](const char* name) -> const char* {
    auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

TEST(Settings, AreTheDefaultsWithoutVariables) {
  auto settings = read({});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->device, "h200");
  EXPECT_EQ(settings->devices, 1);
  EXPECT_EQ(settings->driver_version, 13000);
  EXPECT_EQ(settings->timing, async::late);
  EXPECT_EQ(settings->timeout.count(), 0);
  EXPECT_FALSE(settings->stats);
  EXPECT_FALSE(settings->memory);
}

TEST(Settings, ReadEveryVariable) {
  auto settings = read({{"INFLIGHT_DEVICE", "a100"},
                        {"INFLIGHT_DEVICES", "4"},
                        {"INFLIGHT_DRIVER", "13.4"},
                        {"INFLIGHT_ASYNC", "shuffled:77"},
                        {"INFLIGHT_TIMEOUT", "2.5"},
                        {"INFLIGHT_STATS", "out/stats.json"},
                        {"INFLIGHT_WORKERS", "3"},
                        {"INFLIGHT_SLACK", "512"},
                        {"INFLIGHT_MEMORY", "3G"},
                        {"INFLIGHT_TURNS", "32"},
                        {"INFLIGHT_PROGRESS", "1"}});
  ASSERT_TRUE(settings) << settings.error();
  EXPECT_EQ(settings->device, "a100");
  EXPECT_EQ(settings->devices, 4);
  EXPECT_EQ(settings->driver_version, 13040);
  EXPECT_EQ(settings->timing, async::shuffled(77));
  EXPECT_EQ(settings->timeout.count(), 2500);
  EXPECT_EQ(settings->slack, 512u);
  EXPECT_EQ(settings->memory, std::uint64_t{3} << 30);
  EXPECT_EQ(settings->turns.kind, machine::Turns::Kind::fixed);
  EXPECT_EQ(settings->turns.instructions, 32u);
  EXPECT_TRUE(settings->stats);
  EXPECT_EQ(settings->stats_file, "out/stats.json");
  EXPECT_EQ(settings->workers, 3u);
  EXPECT_TRUE(settings->progress);
}

TEST(Settings, TakeTheCoresThatCTestGaveUnlessTold) {
  std::map<std::string, std::string> variables = {
      {"CTEST_RESOURCE_GROUP_COUNT", "2"},
      {"CTEST_RESOURCE_GROUP_0", "gpus"},
      {"CTEST_RESOURCE_GROUP_0_GPUS", "id:0,slots:1;id:3,slots:2"},
      {"CTEST_RESOURCE_GROUP_1", "gpus,licences"},
      {"CTEST_RESOURCE_GROUP_1_GPUS", "id:5,slots:1"},
      {"CTEST_RESOURCE_GROUP_1_LICENCES", "id:a,slots:9"}};
  EXPECT_EQ(read(variables)->workers, 4u);
  variables["INFLIGHT_WORKERS"] = "2";
  EXPECT_EQ(read(variables)->workers, 2u);
  EXPECT_EQ(
      read({{"CTEST_RESOURCE_GROUP_COUNT", "1"}, {"CTEST_RESOURCE_GROUP_0", "licences"}})->workers,
      0u);
}

TEST(Settings, ReadTheCheckersVariables) {
  auto settings = read({{"INFLIGHT_CHECK", "1"},
                        {"INFLIGHT_LEAK_CHECK", "1"},
                        {"INFLIGHT_REPORT", "a.json:b/%p.sarif"},
                        {"INFLIGHT_ERROR_EXITCODE", "0"},
                        {"INFLIGHT_SUPPRESSIONS", "a.supp::b.supp"},
                        {"INFLIGHT_BASELINE", "base.json"},
                        {"INFLIGHT_SEEDS", "20"}});
  ASSERT_TRUE(settings) << settings.error();
  const CheckSettings& check = settings->check;
  EXPECT_TRUE(check.on && check.leaks);
  EXPECT_FALSE(check.advice || check.verbose || check.gen_suppressions);
  EXPECT_THAT(check.reports, testing::ElementsAre("a.json", "b/%p.sarif"));
  EXPECT_THAT(check.suppressions, testing::ElementsAre("a.supp", "b.supp"));
  EXPECT_EQ(check.error_exitcode, 0);
  EXPECT_EQ(check.baseline, "base.json");
  EXPECT_EQ(check.seeds, 20u);
  EXPECT_EQ(Settings{}.check.error_exitcode, 86);
}

struct Bad {
  const char *name, *text, *allowed;
};
void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name << "='" << bad.text << "'"; }
class BadSetting : public testing::TestWithParam<Bad> {};

TEST_P(BadSetting, IsNamedWithWhatItMayBe) {
  auto settings = read({{GetParam().name, GetParam().text}});
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error(), HasSubstr(GetParam().name));
  EXPECT_THAT(settings.error(), HasSubstr(std::string("'") + GetParam().text + "'"));
  EXPECT_THAT(settings.error(), HasSubstr(GetParam().allowed));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSetting,
    testing::Values(
        Bad{"INFLIGHT_DEVICE", "", "profile"}, Bad{"INFLIGHT_DEVICES", "0", "from 1 to 64"},
        Bad{"INFLIGHT_DEVICES", "65", "from 1 to 64"},
        Bad{"INFLIGHT_DEVICES", "2x", "from 1 to 64"}, Bad{"INFLIGHT_DRIVER", "12.8", "from 13.0"},
        Bad{"INFLIGHT_DRIVER", "13", "from 13.0"}, Bad{"INFLIGHT_DRIVER", "13.100", "from 13.0"},
        Bad{"INFLIGHT_DRIVER", "13.-1", "from 13.0"},
        Bad{"INFLIGHT_ASYNC", "soon", "shuffled:SEED"},
        Bad{"INFLIGHT_ASYNC", "shuffled:", "shuffled:SEED"},
        Bad{"INFLIGHT_ASYNC", "shuffled:x", "shuffled:SEED"},
        Bad{"INFLIGHT_TIMEOUT", "-1", "seconds"}, Bad{"INFLIGHT_TIMEOUT", "nan", "seconds"},
        Bad{"INFLIGHT_STATS", "stats.txt", ".json"}, Bad{"INFLIGHT_WORKERS", "many", "threads"},
        Bad{"INFLIGHT_ISA", "mmx", "this build contains and this processor supports no other"},
        Bad{"INFLIGHT_MEMORY", "", "K, M, G or T"}, Bad{"INFLIGHT_MEMORY", "0", "K, M, G or T"},
        Bad{"INFLIGHT_MEMORY", "G", "K, M, G or T"},
        Bad{"INFLIGHT_MEMORY", "17179869184G", "K, M, G or T"},
        Bad{"INFLIGHT_SLACK", "100", "a power of two"},
        Bad{"INFLIGHT_SLACK", "4194304", "a power of two"},
        Bad{"INFLIGHT_TURNS", "0", "instructions from 1"},
        Bad{"INFLIGHT_TURNS", "random:", "random:SEED"},
        Bad{"INFLIGHT_TURNS", "chip", "random:SEED"}, Bad{"INFLIGHT_COMPILE", "1", "always, auto"},
        Bad{"INFLIGHT_CHECK", "yes", "0 or 1"},
        Bad{"INFLIGHT_REPORT", "a.json:b.txt", ".sarif or .html"},
        Bad{"INFLIGHT_ERROR_EXITCODE", "256", "from 0 to 255"},
        Bad{"INFLIGHT_SEEDS", "0", "up to 10000"}, Bad{"INFLIGHT_PROGRESS", "yes", "0 or 1"}));

}  // namespace
}  // namespace inflight::cuda
