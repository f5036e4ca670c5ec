// Merges findings and writes them.
#include "gpu/check/report/report.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "gpu/check/finding/source.hpp"
#include "gpu/check/report/filter.hpp"
#include "gpu/check/report/json.hpp"
#include "tests/unit/detect/sample.hpp"

namespace inflight::check {
namespace {

TEST(Merging, GivesTheSameWhateverTheOrder) {
  std::vector<Finding> all;
  for (std::uint32_t line : {9, 3, 3, 7, 9, 9}) {
    all.push_back(finding_at(line));
    all.back().count = all.size();
    all.back().here.threads = threads_of(static_cast<std::uint32_t>(all.size()), 1);
  }
  const std::string expected = dump(to_json(merged(all)), 1);
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    std::shuffle(all.begin(), all.end(), random);
    std::vector<Finding> parts = merged({all.begin(), all.begin() + i % 6});
    for (auto each = all.begin() + i % 6; each != all.end(); ++each) parts.push_back(*each);
    ASSERT_EQ(dump(to_json(merged(parts)), 1), expected);
  }
  const auto joined = merged(all);
  ASSERT_EQ(joined.size(), 3u);
  EXPECT_EQ(joined[0].here.place.line, 3u);
  EXPECT_EQ(joined[0].count, 2u + 3u);
  EXPECT_EQ(joined[2].count, 1u + 5u + 6u);
}

TEST(Summary, CountsFindingsAndMistakes) {
  EXPECT_EQ(summary({}), "nothing found.");
  EXPECT_EQ(summary({}, Ran::in_part), "no finding.");
  EXPECT_EQ(summary({finding_at(1)}), "1 finding, seen 1 time.");
  EXPECT_EQ(summary({finding_at(1), full_finding()}), "2 findings, seen 65 times.");
  Finding advice = finding_at(1), leak = finding_at(2);
  advice.kind = FindingKind::bank_conflict, leak.kind = FindingKind::leak;
  EXPECT_EQ(mistakes({advice}), 0u);
  EXPECT_EQ(mistakes({advice, leak, full_finding()}), 2u);
  for (const KindFacts& each : kind_facts)
    EXPECT_EQ(each.severity == Severity::advice, each.counts == Counts::never) << each.id;
}

TEST(Summary, HasALineForEachThatIsLikeNoneBefore) {
  Finding other_memory = finding_at(9);
  other_memory.bytes = Bytes{Space::shared, 0, 4, "tile", 0};
  const std::vector<Finding> all = {finding_at(3), finding_at(7), other_memory, finding_at(8)};
  EXPECT_EQ(summary(all), "4 findings, 2 of them similar to others, seen 4 times.");
  EXPECT_EQ(headlines(all),
            (std::vector<std::string>{
                "data-race at /home/me/copy.cu:3:9 (ld.shared.f32), seen 1 time, and 2 similar",
                "data-race at /home/me/copy.cu:9:9 (ld.shared.f32), seen 1 time"}));
  const auto json = to_json(all)["findings"];
  EXPECT_FALSE(json[0].contains("like"));
  EXPECT_EQ(json[1]["like"], json[0]["fingerprint"]);
  EXPECT_FALSE(json[2].contains("like"));
  EXPECT_EQ(json[3]["like"], json[0]["fingerprint"]);
}

TEST(Writing, TakesTheFormFromTheEnding) {
  const std::string folder = testing::TempDir(), id = std::to_string(getpid());
  ASSERT_TRUE(write_report(folder + "/written-%p.json", {full_finding()}));
  const auto read = read_findings(folder + "/written-" + id + ".json");
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->size(), 1u);
  EXPECT_FALSE(write_report(folder + "/x.txt", {}));
  EXPECT_FALSE(write_report(folder + "/no/such/folder.json", {}));
  EXPECT_TRUE(is_report("a.json"));
  EXPECT_FALSE(is_report("json"));
}

TEST(Writing, KeepsInEveryFormWhatWasNotChecked) {
  for (const char* ending : {".json", ".sarif", ".html"}) {
    const std::string path = testing::TempDir() + "/in_part" + ending;
    ASSERT_TRUE(write_report(path, {finding_at(1)}, {}, {"b <ran> -->", "a", "a"}));
    const auto read = read_report(path);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->findings.size(), 1u);
    EXPECT_EQ(read->unchecked, (Unchecked{"a", "b <ran> -->"})) << ending;
  }
}

TEST(Summary, CountsLaunchesThatFailed) {
  Finding failed = finding_at(1);
  failed.kind = FindingKind::launch_failed;
  failed.count = 2;
  EXPECT_TRUE(unchecked_by_failures({finding_at(1)}).empty());
  EXPECT_EQ(unchecked_by_failures({failed, finding_at(2)}),
            (Unchecked{"2 launches failed. What they had not done by then is not checked."}));
}

TEST(Writing, KeepsTheOldReportIfThereIsNoRoom) {
  const std::string path = testing::TempDir() + "/kept.json";
  ASSERT_TRUE(write_report(path, {finding_at(1)}));
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  const auto wrote = write_report(path, {full_finding(), finding_at(2)});
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(wrote);
  EXPECT_THAT(wrote.error(), testing::HasSubstr("'" + path + "': File too large"));
  const auto read = read_findings(path);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->at(0).here.place.line, 1u);
}

std::string error_of(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  const auto read = read_findings(path);
  return read ? "none" : read.error();
}

TEST(Reading, SaysHowASarifFileIsWrong) {
  const auto error = [](const char* text) { return error_of("foreign.sarif", text); };
  using testing::EndsWith;
  EXPECT_THAT(error("[]"), EndsWith("is not a SARIF log, which is an object"));
  EXPECT_THAT(error("3"), EndsWith("is not a SARIF log, which is an object"));
  EXPECT_THAT(error("{}"), EndsWith("'runs' is not an array"));
  EXPECT_THAT(error(R"({"runs": {"a": 1}})"), EndsWith("'runs' is not an array"));
  EXPECT_THAT(error(R"({"runs": [1]})"), EndsWith("a run is not an object"));
  EXPECT_THAT(error(R"({"runs": [{"results": 1}]})"), EndsWith("'results' is not an array"));
  for (const char* result : {"1", "{}", R"({"properties": [1]})", R"({"properties": {}})"})
    EXPECT_THAT(error(("{\"runs\": [{\"results\": [" + std::string(result) + "]}]}").c_str()),
                EndsWith("the result is another tool's"));
  EXPECT_THAT(error(R"({"runs": [{"results": [{"properties": {"finding": 1}}]}]})"),
              EndsWith("a finding is not an object"));
  for (const char* each : {R"({"runs": []})", R"({"runs": [{}]})", R"({"runs": [{"results": []}]})",
                           R"({"runs": [{"results": [], "tool": {"driver": {"name": "lint"}}}]})"})
    EXPECT_THAT(error(each), EndsWith("it is not a report of this tool: another wrote it"));
  EXPECT_EQ(error(R"({"runs": [{"results": [], "tool": {"driver": {"name": "Inflight"}}}]})"),
            "none");
}

TEST(Reading, SaysHowAReportIsWrong) {
  const auto error = [](const char* text) { return error_of("foreign.json", text); };
  using testing::EndsWith;
  for (const char* each : {"1", "[]", "null", "{}", R"({"findings": 1, "version": 1})"})
    EXPECT_THAT(error(each), EndsWith("the file is not a findings report"));
  EXPECT_THAT(error(R"({"findings": [], "version": "1"})"), EndsWith("its version is not 1"));
  EXPECT_THAT(error(R"({"findings": [1], "version": 1})"), EndsWith("a finding is not an object"));
  EXPECT_THAT(read_findings(testing::TempDir()).error(), EndsWith("is a folder"));
  EXPECT_THAT(read_suppressions(testing::TempDir()).error(), EndsWith("is a folder"));
  EXPECT_FALSE(Filter::read({}, testing::TempDir()));
}

TEST(Reading, BearsAnyNesting) {
  const std::string open(1000000, '['), close(1000000, ']');
  EXPECT_NE(error_of("deep.json", open + close), "none");
  EXPECT_NE(error_of("open.json", open), "none");
  EXPECT_NE(error_of("deep.sarif", "{\"runs\": [{\"results\": [{\"properties\": {\"finding\": " +
                                       open + close + "}}]}]}"),
            "none");
  EXPECT_NE(error_of("deep.html", "<!-- findings " + open + close + " -->\n"), "none");
}

TEST(Reading, RefusesNumbersThatNoFindingHas) {
  nlohmann::json j = to_json(full_finding());
  j["here"]["at"]["line"] = 1ull << 32;
  EXPECT_EQ(finding_of(j).error(), "a finding's 'line' is too large");
  j = to_json(full_finding());
  j["moment"] = nlohmann::json::array();
  for (int i = 0; i < 5000; ++i) j["moment"].push_back(to_json(full_finding())["moment"][0]);
  EXPECT_EQ(finding_of(j).error(), "a finding's 'moment' has too many entries");
}

TEST(Merging, AddsCountsOnlyUpToTheLargestNumber) {
  Finding most = finding_at(1);
  most.count = std::numeric_limits<std::uint64_t>::max() - 1;
  EXPECT_EQ(merged({most, most})[0].count, std::numeric_limits<std::uint64_t>::max());
}

// Members that no report of this build has alone.
TEST(Merging, TakesALineOfACallWithoutTheCall) {
  nlohmann::json j = to_json(finding_at(3, "a line"));
  j["here"]["at"]["call_source"] = "another";
  EXPECT_THAT(to_text(*finding_of(j)), testing::Not(testing::HasSubstr("another")));
}

TEST(SourceRoot, IsTheWorkingTree) {
  namespace fs = std::filesystem;
  const fs::path before = fs::current_path(), tree = fs::path(testing::TempDir()) / "tree";
  fs::create_directories(tree / ".git");
  fs::create_directories(tree / "a/b");
  fs::current_path(tree / "a/b");
  EXPECT_EQ(source_root(), fs::canonical(tree).string());
  fs::current_path(before);
}

}  // namespace
}  // namespace inflight::check
