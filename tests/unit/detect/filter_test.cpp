// Suppressions and baselines.
#include "gpu/check/report/filter.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "gpu/check/report/report.hpp"
#include "tests/unit/detect/sample.hpp"

namespace inflight::check {
namespace {

using testing::HasSubstr;

Suppression entry(const std::string& body) {
  const auto entries = parse_suppressions("{\nname\n" + body + "\n}\n", "file");
  EXPECT_TRUE(entries) << entries.error();
  return entries && entries->size() == 1 ? entries->front() : Suppression{};
}

TEST(Wildcards, MatchTheWholeText) {
  EXPECT_TRUE(matches_wildcards("", ""));
  EXPECT_TRUE(matches_wildcards("a*c?e", "abbbcde"));
  EXPECT_TRUE(matches_wildcards("*.cu:3*", "/x/y.cu:31"));
  EXPECT_TRUE(matches_wildcards("a**", "a"));
  EXPECT_FALSE(matches_wildcards("a?", "a"));
  EXPECT_FALSE(matches_wildcards("ab", "abc"));
  EXPECT_FALSE(matches_wildcards("*b", "abc"));
}

TEST(Suppressions, MatchWhatAllTheirLinesSay) {
  const Finding f = full_finding();
  for (const char* body :
       {"inflight:read-before-wait", "inflight:*", "inflight:read-*\nkernel:copy(*",
        "inflight:*\nkernel:_Z4copyPf", "inflight:*\nfunction:_Z10copy_async*",
        "inflight:*\nfunction:copy_async(float*, float const*)", "inflight:*\nsource:copy.cu:31",
        "inflight:*\nsource:*/me/copy.cu:28", "inflight:*\nhere:copy.cu:31\nthere:copy.cu:28",
        "inflight:*\nhere:*.cu"})
    EXPECT_TRUE(matches(entry(body), f)) << body;
  for (const char* body :
       {"inflight:data-race", "inflight:*\nkernel:other*", "inflight:*\nhere:copy.cu:28",
        "inflight:*\nthere:copy.cu:31", "inflight:*\nsource:copy.cu:3",
        "inflight:*\nkernel:copy*\nfunction:none"})
    EXPECT_FALSE(matches(entry(body), f)) << body;
}

TEST(Suppressions, MatchAnyLineThatAnInstructionIsInlinedAt) {
  Finding f = full_finding();
  f.here.place.inlined_at = {{"/home/me/caller.cu", 5, 1}};
  EXPECT_TRUE(matches(entry("inflight:*\nhere:caller.cu:5"), f));
  EXPECT_FALSE(matches(entry("inflight:*\nthere:caller.cu:5"), f));
}

TEST(Suppressions, ThatAreGeneratedMatchTheirFindingAndNoOtherLine) {
  const auto entries = parse_suppressions(suppression_for(full_finding()), "generated");
  ASSERT_TRUE(entries) << entries.error();
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_TRUE(matches(entries->front(), full_finding()));
  Finding other = full_finding();
  other.here.place.line = 32;
  EXPECT_FALSE(matches(entries->front(), other));
}

TEST(Suppressions, SayWhichLineIsWrong) {
  const auto error = [](const char* text) {
    const auto entries = parse_suppressions(text, "my.supp");
    return entries ? std::string("none") : entries.error();
  };
  EXPECT_EQ(error("# only a comment\n\n"), "none");
  EXPECT_THAT(error("name\n"), HasSubstr("my.supp:1: '{' is expected"));
  EXPECT_THAT(error("{\nname\n}\n"), HasSubstr("my.supp:3: an entry needs"));
  EXPECT_THAT(error("{\nname\nMemcheck:Leak\n}"), HasSubstr("my.supp:3: 'inflight:KIND'"));
  EXPECT_THAT(error("{\nname\ninflight:luck\n}"), HasSubstr("'luck' is not a known finding kind"));
  EXPECT_THAT(error("{\nname\ninflight:leak\nobj:x\n}"), HasSubstr("my.supp:4: 'kernel:'"));
  EXPECT_THAT(error("{\nname\ninflight:leak\n"), HasSubstr("'}' is missing"));
}

TEST(Suppressions, ThatMatchNothingAreKnown) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "two.supp").string();
  std::ofstream(path) << "{\nused\ninflight:data-race\n}\n{\nidle\ninflight:leak\n}\n";
  auto filter = Filter::read({path}, {});
  ASSERT_TRUE(filter) << filter.error();
  EXPECT_EQ(filter->judge(finding_at(3)), Filter::Verdict::suppressed);
  EXPECT_EQ(filter->judge(full_finding()), Filter::Verdict::report);
  ASSERT_EQ(filter->unused().size(), 1u);
  EXPECT_EQ(filter->unused()[0]->name, "idle");
  EXPECT_EQ(filter->unused()[0]->line, 5u);
  EXPECT_FALSE(Filter::read({path + ".none"}, {}));
}

TEST(Baseline, KnowsALineThatHasMovedAndEachFindingOnce) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "base.json").string();
  ASSERT_TRUE(write_report(path, {finding_at(10, "  x = tile[i];"), finding_at(20)}));
  auto filter = Filter::read({}, path);
  ASSERT_TRUE(filter) << filter.error();
  EXPECT_EQ(filter->judge(finding_at(12, "x = tile[i];")), Filter::Verdict::known);
  EXPECT_EQ(filter->judge(finding_at(14, "x = tile[i];")), Filter::Verdict::report);
  EXPECT_EQ(filter->judge(finding_at(20)), Filter::Verdict::known);
  EXPECT_EQ(filter->judge(finding_at(21)), Filter::Verdict::report);
  EXPECT_FALSE(Filter::read({}, path + ".none"));
}

}  // namespace
}  // namespace inflight::check
