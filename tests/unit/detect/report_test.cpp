// Merges findings and writes them.
#include "gpu/check/report/report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

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
  EXPECT_EQ(summary({finding_at(1)}), "1 finding, seen 1 time.");
  EXPECT_EQ(summary({finding_at(1), full_finding()}), "2 findings, seen 65 times.");
  Finding advice = finding_at(1), leak = finding_at(2);
  advice.kind = FindingKind::bank_conflict, leak.kind = FindingKind::leak;
  EXPECT_EQ(mistakes({advice}), 0u);
  EXPECT_EQ(mistakes({advice, leak, full_finding()}), 2u);
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
