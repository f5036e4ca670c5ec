// Findings to JSON and back.
#include "gpu/check/report/json.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/unit/detect/sample.hpp"

namespace inflight::check {
namespace {

using testing::HasSubstr;

TEST(FindingJson, KeepsEveryMember) {
  const nlohmann::json written = to_json(full_finding());
  const auto read = finding_of(written);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(dump(to_json(*read), 1), dump(written, 1));
  EXPECT_EQ(read->there[0].threads->rank, 3);
  EXPECT_EQ(read->moment[0].bytes->count, 16u);
  EXPECT_EQ(read->bytes->offset, 16u);
  EXPECT_EQ(read->replay, "--async shuffled:3");
  EXPECT_EQ(fingerprint(*read), fingerprint(full_finding()));
}

TEST(FindingJson, HasTheIdsThatOthersRelyOn) {
  const nlohmann::json j = to_json(full_finding());
  EXPECT_EQ(j["kind"], "read-before-wait");
  EXPECT_EQ(j["severity"], "error");
  EXPECT_EQ(j["here"]["at"]["line"], 31);
  EXPECT_EQ(j["moment"][0]["what"], "issued");
  EXPECT_EQ(j["bytes"]["space"], "shared");
}

TEST(FindingJson, KeepsHostsAndPlacesWithoutSource) {
  Finding f;
  f.kind = FindingKind::leak;
  f.sentence = "memory is never released";
  f.here.did = "allocates 4 bytes";
  f.here.place.instruction = "cudaMalloc";
  const auto read = finding_of(to_json(f));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->here.place.instruction, "cudaMalloc");
  EXPECT_FALSE(read->here.threads);
  EXPECT_FALSE(read->bytes);
}

TEST(FindingJson, SaysWhichMemberIsWrong) {
  const auto error_after = [](auto change) {
    nlohmann::json j = to_json(full_finding());
    change(j);
    const auto read = finding_of(j);
    return read ? std::string("none") : read.error();
  };
  EXPECT_THAT(error_after([](auto& j) { j.erase("here"); }), HasSubstr("'here' is missing"));
  EXPECT_THAT(error_after([](auto& j) { j["kind"] = "bad-luck"; }), HasSubstr("'kind' is unknown"));
  EXPECT_THAT(error_after([](auto& j) { j["here"]["at"]["line"] = "x"; }), HasSubstr("'line'"));
  EXPECT_THAT(error_after([](auto& j) { j["there"] = 3; }), HasSubstr("'there' is not an array"));
  EXPECT_EQ(error_after([](auto& j) { j["new_member"] = 3; }), "none");
  EXPECT_FALSE(report_of(nlohmann::json::array()));
  EXPECT_FALSE(report_of({{"version", 2}, {"findings", nlohmann::json::array()}}));
}

TEST(FindingJson, SaysWhetherAllWasChecked) {
  const nlohmann::json whole = to_json(std::vector<Finding>{full_finding()}),
                       part = to_json(std::vector<Finding>{},
                                      {"1 launch still ran.", "signal 9 ended it."});
  EXPECT_EQ(whole["complete"], true);
  EXPECT_FALSE(whole.contains("unchecked"));
  EXPECT_EQ(part["complete"], false);
  EXPECT_TRUE(report_of(whole)->unchecked.empty());
  EXPECT_EQ(report_of(part)->unchecked, (Unchecked{"1 launch still ran.", "signal 9 ended it."}));
  EXPECT_THAT(
      report_of({{"version", 1}, {"findings", nlohmann::json::array()}, {"unchecked", 1}}).error(),
      HasSubstr("'unchecked' is not an array"));
}

TEST(FindingJson, IsWrittenWhateverBytesItsTextsHave) {
  Finding f = full_finding();
  f.here.place.source = "caf\xe9";
  EXPECT_THAT(dump(to_json(f)), HasSubstr("caf\xef\xbf\xbd"));
}

}  // namespace
}  // namespace inflight::check
