// Findings in SARIF and in HTML.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gpu/check/printable.hpp"
#include "gpu/check/report/html.hpp"
#include "gpu/check/report/json.hpp"
#include "gpu/check/report/sarif.hpp"
#include "tests/unit/detect/sample.hpp"

namespace inflight::check {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(Sarif, HasARuleForEachKindAndAResultForEachFinding) {
  const json j = to_sarif({full_finding(), finding_at(9)}, "/home/me");
  const json& run = j["runs"][0];
  EXPECT_EQ(j["version"], "2.1.0");
  ASSERT_EQ(run["tool"]["driver"]["rules"].size(), finding_kinds);
  ASSERT_EQ(run["results"].size(), 2u);
  for (const json& result : run["results"]) {
    const std::size_t index = result["ruleIndex"];
    EXPECT_EQ(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
  }
}

TEST(Sarif, NamesFilesFromTheRoot) {
  Finding f = full_finding();
  f.there[0].place.file = "/usr/include/a b.cuh";
  const auto other_of = [](const Finding& finding) {
    return to_sarif({finding},
                    "/home/me")["runs"][0]["results"][0]["relatedLocations"][0]["physicalLocation"];
  };
  EXPECT_EQ(other_of(f)["artifactLocation"]["uri"], "caller.cu");  // where it is inlined
  f.there[0].place.inlined_at.clear();
  const json run = to_sarif({f}, "/home/me")["runs"][0];
  const json& result = run["results"][0];
  EXPECT_EQ(run["originalUriBaseIds"]["%SRCROOT%"]["uri"], "file:///home/me/");
  const json own = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(own["artifactLocation"]["uri"], "copy.cu");
  EXPECT_EQ(own["artifactLocation"]["uriBaseId"], "%SRCROOT%");
  EXPECT_EQ(own["region"]["startLine"], 31);
  const json other = other_of(f);
  EXPECT_EQ(other["artifactLocation"]["uri"], "file:///usr/include/a%20b.cuh");
  EXPECT_FALSE(other["artifactLocation"].contains("uriBaseId"));
}

TEST(Sarif, SaysWhetherAllWasChecked) {
  const json whole = to_sarif({}, "/")["runs"][0]["invocations"][0],
             part = to_sarif({}, "/", {"1 launch still ran."})["runs"][0]["invocations"][0];
  EXPECT_EQ(whole["executionSuccessful"], true);
  EXPECT_FALSE(whole.contains("toolExecutionNotifications"));
  EXPECT_EQ(part["executionSuccessful"], false);
  EXPECT_EQ(part["toolExecutionNotifications"][0]["message"]["text"], "1 launch still ran.");
}

TEST(Sarif, HasAPlaceWhateverIsKnownOfIt) {
  Finding ptx = finding_at(9), host = finding_at(9);
  ptx.here.place.file.clear(), ptx.here.place.line = 0;
  host.here.place = {};
  host.here.place.instruction = "cudaMalloc";
  const json results = to_sarif({ptx, host}, "/")["runs"][0]["results"];
  const auto place = [&](int i) { return results[i]["locations"][0]["physicalLocation"]; };
  EXPECT_EQ(place(0)["artifactLocation"]["uri"], "_Z4copyPf.ptx");
  EXPECT_EQ(place(0)["region"]["startLine"], 27);
  EXPECT_EQ(place(1)["artifactLocation"]["uri"], "host");
  EXPECT_EQ(place(1)["region"]["startLine"], 1);
}

TEST(Sarif, TellsTheMomentAsAFlowForEachWarp) {
  Finding f = full_finding();
  f.moment.push_back(f.moment[0]);
  f.moment.back().threads = threads_of(2, 1);
  const json flows = to_sarif({f}, "/")["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"];
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(flows[1]["locations"][0]["executionOrder"], 2);
  EXPECT_THAT(std::string(flows[0]["message"]["text"]), HasSubstr("warp 0 of block (1,0,0)"));
}

TEST(Html, NeedsNothingBesideItAndExecutesNothing) {
  const std::string page = to_html({full_finding()});
  for (const char* each : {"http://", "https://", "<script", " src=", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(each)));
  for (const char* each :
       {"<svg ", "prefers-color-scheme: dark", "name=\"viewport\"", "<b>Fix:</b>"})
    EXPECT_THAT(page, HasSubstr(each));
}

TEST(Html, EscapesEveryText) {
  Finding f = full_finding();
  const std::string evil = "<script>\"&'</script>";
  f.sentence = f.remedy = f.rule = f.replay = evil;
  for (Party* p : {&f.here, &f.there[0], &f.in_flight[0]})
    p->did = p->place.source = p->place.kernel = p->place.file = p->place.instruction = evil;
  f.moment[0].label = f.moment[0].place.file = evil;
  f.bytes->variable = evil;
  const std::string page = to_html({f, f});
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;"));
}

TEST(Html, ShowsLinesAroundWithBothSidesMarked) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "shown.cu").string();
  std::ofstream file(path);
  for (int i = 1; i <= 20; ++i) file << "line_" << i << "\n";
  file.close();
  Finding f = full_finding();
  f.here.place = place_at(10, "line_10", path);
  f.there[0].place = place_at(8, "line_8", path);
  const std::string page = to_html({f}, {testing::TempDir()});
  EXPECT_THAT(page, HasSubstr("<span class=\"here\">   10  line_10</span>"));
  EXPECT_THAT(page, HasSubstr("<span class=\"there\">    8  line_8</span>"));
  EXPECT_THAT(page, HasSubstr("line_14</span>"));
  EXPECT_THAT(page, Not(HasSubstr("line_15")));
}

TEST(Html, ShowsTheLineOfTheReportWhereTheFileIsAnother) {
  Finding f = full_finding();
  EXPECT_THAT(to_html({f}),
              HasSubstr("<span class=\"here\">   31    sum += tile[threadIdx.x];</span>"));
}

TEST(Reports, HaveNothingThatATerminalObeys) {
  Finding f = full_finding();
  const std::string evil = "\033[31m\x7f\xc2\x9b\u202e\u2066";
  f.sentence = f.remedy = f.replay = f.bytes->variable = evil;
  for (Party* p : {&f.here, &f.there[0], &f.in_flight[0]})
    p->did = p->place.source = p->place.kernel = p->place.file = p->place.instruction = evil;
  f.moment[0].label = f.moment[0].place.file = evil;
  for (const std::string& text :
       {to_html({f}), dump(to_json(std::vector<Finding>{f})), dump(to_sarif({f}, "/"), 2)})
    EXPECT_EQ(printable_lines(text), text);
  // What was found is still in the report.
  const auto read = finding_of(json::parse(dump(to_json(f))));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->here.place.file, evil);
}

TEST(Html, ShowsNoLinesOfFilesThatTheUserDidNotMean) {
  Finding f = full_finding();
  f.here.place = place_at(1, {}, "/etc/passwd");
  f.there.clear();
  const std::string page = to_html({f});
  EXPECT_THAT(page, Not(HasSubstr("root:")));
  EXPECT_THAT(page, HasSubstr("/etc/passwd:1"));
}

TEST(Picture, HasALaneForEachWarpAndABarForEachCopy) {
  Finding f = full_finding();
  Step other = f.moment[0];
  other.threads = threads_of(2, 1), other.copy = 0, other.what = Step::What::waited;
  f.moment.push_back(other);
  const std::string svg = picture(f);
  const auto count = [&](const std::string& what) {
    std::size_t n = 0;
    for (auto at = svg.find(what); at != svg.npos; at = svg.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("class=\"lane\""), 2u);
  EXPECT_EQ(count("<rect class=\"copy hit open\""), 1u);
  EXPECT_EQ(count("<circle"), 2u);
  EXPECT_THAT(svg, HasSubstr("4 of its 16 bytes"));
  EXPECT_EQ(picture(finding_at(1)), "");
}

}  // namespace
}  // namespace inflight::check
