// Findings as text, and the source lines that they quote.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "gpu/check/finding/alike.hpp"
#include "gpu/check/finding/findings.hpp"
#include "gpu/check/finding/source.hpp"
#include "gpu/check/printable.hpp"
#include "tests/unit/detect/sample.hpp"

namespace inflight::check {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

TEST(FindingText, StandsAlone) {
  Finding f = full_finding();
  f.replay.clear();
  EXPECT_EQ(to_text(f),
            R"(read-before-wait: bytes are read that a cp.async may still be writing
  reads 4 bytes
    at /home/me/copy.cu:31:9 (ld.shared.f32) in kernel copy(float*)
      31 |   sum += tile[threadIdx.x];
    by thread (64,0,0) of block (1,0,0), and 31 more of its warp
  issues a copy of 16 bytes
    at /home/me/copy.cu:28:9 (cp.async.ca.shared.global), inlined at /home/me/caller.cu:40 in kernel copy(float*), function copy_async(float*, float const*)
      28 |   copy_async(tile, in);
    by thread (0,0,0) of block (1,0,0) (rank 3 of its cluster)
  shared memory at offset 0x410, 4 bytes: 'tile' + 16
  in flight then, oldest first:
    copies 16 bytes, at /home/me/copy.cu:28:9 (cp.async.ca.shared.global), inlined at /home/me/caller.cu:40
  fix: cp.async.wait_group 0 before it
  rule: PTX ISA, cp.async.wait_group
  seen 64 times
)");
}

TEST(FindingText, IsShortOfOneThatIsLikeAnother) {
  EXPECT_EQ(
      short_text(full_finding()),
      R"(read-before-wait: similar to one above, at other places: bytes are read that a cp.async may still be writing
  reads 4 bytes at /home/me/copy.cu:31:9 (ld.shared.f32)
      31 |   sum += tile[threadIdx.x];
  issues a copy of 16 bytes at /home/me/copy.cu:28:9 (cp.async.ca.shared.global), inlined at /home/me/caller.cu:40
      28 |   copy_async(tile, in);
)");
}

TEST(Alike, AreThoseOfTheSameFunctionsVariableAndSentence) {
  const Finding race = finding_at(3);
  const auto like = [&](auto change) {
    Alike alike;
    Finding other = finding_at(7);
    change(other);
    return !alike.seen_before(race) && alike.seen_before(other);
  };
  EXPECT_TRUE(like([](Finding&) {}));
  EXPECT_FALSE(like([](Finding& f) { f.kind = FindingKind::leak; }));
  EXPECT_FALSE(like([](Finding& f) { f.sentence = "others race"; }));
  EXPECT_FALSE(like([](Finding& f) { f.here.place.mangled = "_Z5otherv"; }));
  EXPECT_FALSE(like([](Finding& f) { f.here.place.function = "_Z6calledv"; }));
  EXPECT_FALSE(like([](Finding& f) { f.there.push_back(f.here); }));
  EXPECT_FALSE(like([](Finding& f) { f.bytes = Bytes{Space::shared, 0, 4, "tile", 0}; }));
}

TEST(Alike, ARaceIsTheSameWhicheverSideIsTold) {
  Finding one = finding_at(3), other;
  one.there = {one.here};
  one.there[0].place.mangled = "_Z5otherv";
  other = one;
  std::swap(other.here, other.there[0]);
  Alike alike;
  EXPECT_FALSE(alike.seen_before(one));
  EXPECT_TRUE(alike.seen_before(other));
}

TEST(Alike, MistakesOfTheHostAloneAreLikeNoOther) {
  Finding leak;
  leak.kind = FindingKind::leak;
  leak.here.place.instruction = "cudaMalloc";
  Alike alike;
  EXPECT_FALSE(alike.seen_before(leak));
  EXPECT_FALSE(alike.seen_before(leak));
  EXPECT_EQ(groups_of({leak, leak}).size(), 2u);
}

TEST(Fingerprint, IsTheSameHoweverDeepATemplateCallsItself) {
  Finding shallow = finding_at(3), deep = finding_at(3), other = finding_at(3);
  shallow.here.place.inlined_at = {{"/home/me/a.hpp", 5, 1}, {"/home/me/a.hpp", 9, 1}};
  deep.here.place.inlined_at = {
      {"/home/me/a.hpp", 5, 1}, {"/home/me/a.hpp", 5, 1}, {"/home/me/a.hpp", 9, 1}};
  other.here.place.inlined_at = {{"/home/me/a.hpp", 6, 1}, {"/home/me/a.hpp", 9, 1}};
  EXPECT_EQ(fingerprint(shallow), fingerprint(deep));
  EXPECT_NE(fingerprint(shallow), fingerprint(other));
}

TEST(FindingText, LosesTheMiddleOfALongChain) {
  CodePlace place;
  place.kernel = "copy(float*)";
  place.instruction = "ld.shared.f32";
  place.file = "/home/me/a.hpp", place.line = 1, place.column = 3;
  for (unsigned line = 2; line <= 4; ++line)
    place.inlined_at.push_back({"/home/me/b.hpp", line, 1});
  EXPECT_EQ(to_text(place),
            "/home/me/a.hpp:1:3 (ld.shared.f32), inlined at /home/me/b.hpp:2, inlined at "
            "/home/me/b.hpp:3, inlined at /home/me/b.hpp:4");
  for (unsigned line = 5; line <= 9; ++line)
    place.inlined_at.push_back({"/home/me/b.hpp", line, 1});
  EXPECT_EQ(to_text(place),
            "/home/me/a.hpp:1:3 (ld.shared.f32), inlined at /home/me/b.hpp:2, through 5 more, "
            "inlined at /home/me/b.hpp:8, inlined at /home/me/b.hpp:9");
}

TEST(FindingText, HasColoursOnlyWhereTheyAreAskedFor) {
  EXPECT_THAT(to_text(full_finding()), Not(HasSubstr("\033")));
  EXPECT_THAT(to_text(full_finding(), {.colours = true}),
              HasSubstr("\033[1;31mread-before-wait\033[0m: "));
}

TEST(FindingText, NamesTheOptionsThatBringItBack) {
  EXPECT_THAT(to_text(full_finding()), HasSubstr("reproduce with: --async shuffled:3\n"));
}

TEST(FindingText, NamesFilesFromTheWorkingDirectory) {
  const CodePlace below =
      place_at(3, {}, (std::filesystem::current_path() / "kernels/a.cu").string());
  EXPECT_EQ(to_text(below), "kernels/a.cu:3:9 (ld.shared.f32)");
}

TEST(FindingText, NamesTheModuleOfALineOfPtx) {
  CodePlace place = place_at(3, {}, {});
  place.module = "/usr/lib/libcudf.so";
  EXPECT_EQ(to_text(place), "PTX line 9 of libcudf.so (ld.shared.f32)");
  place.module.clear();
  EXPECT_EQ(to_text(place), "PTX line 9 (ld.shared.f32)");
}

TEST(FindingText, TellsTheUsesOfAWrapperApart) {
  Finding f = full_finding();
  f.here.place.inlined_at = {{"/home/me/wrap.cuh", 3, 1}, {"/home/me/a.cu", 40, 2}};
  EXPECT_EQ(headline(f),
            "read-before-wait at /home/me/copy.cu:31:9 (ld.shared.f32), inlined at "
            "/home/me/a.cu:40, seen 64 times");
}

TEST(FindingText, HasAHeadline) {
  EXPECT_EQ(headline(full_finding()),
            "read-before-wait at /home/me/copy.cu:31:9 (ld.shared.f32), seen 64 times");
}

TEST(Fingerprint, IsOfPlacesAloneAndOfAllOfThem) {
  Finding f = full_finding();
  const std::string before = fingerprint(f);
  f.count = 1, f.here.threads->warp = 9, f.sentence = "other words", f.bytes.reset();
  f.here.place.file = "/elsewhere/copy.cu";
  EXPECT_EQ(fingerprint(f), before);
  f.there[0].place.line = 29;
  EXPECT_NE(fingerprint(f), before);
}

TEST(OwnLine, IsTheInnermostOutsideOfInstalledHeaders) {
  CodePlace place = place_at(190, {}, "/usr/local/cuda/include/cuda_pipeline_helpers.h");
  EXPECT_EQ(own_line(place).line, 190u);
  place.inlined_at = {{"/x/site-packages/nvidia/include/cuda_pipeline.h", 40, 3},
                      {"/home/me/include/mine.cuh", 7, 5},
                      {"/home/me/copy.cu", 20, 5}};
  EXPECT_EQ(own_line(place).file, "/home/me/include/mine.cuh");
  EXPECT_EQ(own_line(place).line, 7u);
  EXPECT_EQ(own_line(place_at(31)).line, 31u);
  EXPECT_EQ(
      to_text(place),
      "/home/me/include/mine.cuh:7:5 (ld.shared.f32, of cuda_pipeline_helpers.h:190), inlined "
      "at /home/me/copy.cu:20");
  Finding f = full_finding();
  f.here.place = place;
  EXPECT_EQ(headline(f),
            "read-before-wait at /home/me/include/mine.cuh:7:5 (ld.shared.f32), inlined at "
            "/home/me/copy.cu:20, seen 64 times");
  const std::string before = fingerprint(f);
  f.here.place.inlined_at.back().line = 21;
  EXPECT_NE(fingerprint(f), before);
}

TEST(SourceFiles, QuoteTheLineOfEachPlace) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "quoted.cu").string();
  std::ofstream(path) << "first\r\n\tsecond\nthird";
  SourceFiles files({testing::TempDir()});
  Finding f = finding_at(2);
  f.here.place.file = path;
  f.there = {{"writes", place_at(3, {}, path), {}}, {"writes", place_at(4, {}, path), {}}};
  files.quote(f);
  EXPECT_EQ(f.here.place.source, "        second");
  EXPECT_EQ(f.there[0].place.source, "third");
  EXPECT_EQ(f.there[1].place.source, "");
  EXPECT_EQ(files.lines(path)[0], "first");
  EXPECT_TRUE(files.lines(testing::TempDir()).empty());
}

// A folder with sources and one with a secret, and a working directory.
class SourceFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/sources-XXXXXX";
    ASSERT_TRUE(mkdtemp(path.data()));
    top = fs::canonical(path);
    for (const char* each : {"work/.git", "work/.ssh", "work/sub", "other"})
      fs::create_directories(top / each);
    for (const char* each : {"work/a.cu", "work/.ssh/key", "work/sub/.hidden", "other/secret"})
      std::ofstream(top / each) << "text\n";
    fs::create_symlink(top / "other/secret", top / "work/link.cu");
    fs::current_path(top / "work/sub");
  }
  void TearDown() override {
    fs::current_path(before);
    fs::remove_all(top);
  }
  static bool shows(const SourceFiles& files, const fs::path& path) {
    return !SourceFiles(files).lines(path.string()).empty();
  }
  fs::path top;
  const fs::path before = fs::current_path();
};

TEST_F(SourceFilesTest, ShowTheWorkingTree) {
  const SourceFiles files;
  EXPECT_TRUE(shows(files, top / "work/a.cu"));
  EXPECT_TRUE(shows(files, "../a.cu"));
  EXPECT_FALSE(shows(files, ""));
}

TEST_F(SourceFilesTest, ShowNothingThatTheUserDidNotMean) {
  const SourceFiles files;
  EXPECT_FALSE(shows(files, top / "other/secret"));
  EXPECT_FALSE(shows(files, top / "work/../other/secret"));
  EXPECT_FALSE(shows(files, top / "work/link.cu"));
  EXPECT_FALSE(shows(files, top / "work/.ssh/key"));
  EXPECT_FALSE(shows(files, ".hidden"));
  for (const char* each : {"/etc/passwd", "/proc/self/environ", "/proc/self/cmdline"})
    EXPECT_FALSE(shows(files, each)) << each;
  fs::current_path("/");  // says nothing about what the user means
  EXPECT_FALSE(shows(SourceFiles(), "/etc/passwd"));
}

TEST_F(SourceFilesTest, ShowFoldersThatTheUserNames) {
  EXPECT_TRUE(shows(SourceFiles({(top / "other").string()}), top / "other/secret"));
  EXPECT_TRUE(shows(SourceFiles({(top / "work/.ssh").string()}), top / "work/.ssh/key"));
  EXPECT_FALSE(shows(SourceFiles({(top / "oth").string()}), top / "other/secret"));
}

TEST(FindingText, EscapesWhatATerminalObeys) {
  Finding f = full_finding();
  const std::string evil = "\033]0;x\007\n\xc2\x9b\u202e\xff";
  f.sentence = f.remedy = f.rule = f.replay = evil;
  for (Party* p : {&f.here, &f.there[0], &f.in_flight[0]}) {
    p->did = p->place.source = p->place.kernel = p->place.function = evil;
    p->place.file = p->place.instruction = p->place.call_source = evil;
    p->place.inlined_at = {{evil, 1, 1}};
  }
  f.bytes->variable = evil;
  for (const std::string& text : {to_text(f), short_text(f), headline(f)}) {
    EXPECT_EQ(printable_lines(text), text);
    EXPECT_EQ(text.find("\n\\u009b"), text.npos);
  }
  EXPECT_THAT(to_text(f), testing::HasSubstr("\\x1b]0;x\\x07\\x0a\\u009b\\u202e\\xff"));
}

TEST(Findings, AreCompleteWhenTheyAreHeardOf) {
  std::vector<std::string> heard;
  Findings findings([&](const Finding& f) { heard.push_back(f.remedy); });
  findings.complete_with([](Finding& f) { f.remedy = "completed"; });
  for (int i = 0; i < 3; ++i)
    findings.add({FindingKind::data_race, 1, 2}, [] { return finding_at(1); });
  EXPECT_THAT(heard, testing::ElementsAre("completed"));
  ASSERT_EQ(findings.all().size(), 1u);
  EXPECT_EQ(findings.all()[0].count, 3u);
}

TEST(Findings, TellACauseBeforeItsConsequences) {
  std::vector<std::string> heard;
  Findings findings([&](const Finding& f) { heard.push_back(f.remedy); });
  const auto finding_of = [](FindingKind kind, std::uint64_t launch, const char* remedy) {
    Finding f = finding_at(1);
    f.kind = kind;
    f.here.threads = Threads{};
    f.here.threads->launch = launch;
    f.bytes = Bytes{Space::shared, 64, 8, {}, 0};
    f.remedy = remedy;
    return f;
  };
  const auto consequence = [&](PlaceId place, Suspect of, const char* remedy) {
    findings.add_consequence({FindingKind::read_before_wait, place}, of, [&] {
      return finding_of(FindingKind::read_before_wait, of.launch, remedy);
    });
  };
  consequence(1, {7, 0, 64}, "of the mbarrier");
  consequence(2, {7, 1, 128}, "of another");
  consequence(3, {7, 1}, "of any");
  consequence(4, {8, 0, 64}, "of another launch");
  EXPECT_TRUE(heard.empty());
  EXPECT_EQ(findings.count(), 4u);
  EXPECT_TRUE(findings.concern(8));
  findings.add({FindingKind::transaction_count, 5},
               [&] { return finding_of(FindingKind::transaction_count, 7, "count"); });
  const std::string first = "first mend the transaction-count above, from which this may follow. ";
  EXPECT_THAT(heard, testing::ElementsAre("count", first + "If this remains: of the mbarrier",
                                          first + "If this remains: of any"));
  findings.release(7, 1);
  EXPECT_EQ(heard.back(), "of another");
  findings.release(8);
  EXPECT_EQ(heard.back(), "of another launch");
  EXPECT_EQ(findings.all().size(), 5u);
}

}  // namespace
}  // namespace inflight::check
