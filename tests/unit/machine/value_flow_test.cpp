// Where loaded values go: to which stores as they are, to which uses, and where nobody can say.
#include "gpu/machine/instruction/value_flow.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gpu/ptx/parse.hpp"

namespace inflight::machine {
namespace {

// "2 stored 1>0": element 1 is stored as it is by instruction 2, as element 0; "3 used 0".
std::vector<std::string> sinks(const std::string& body, std::uint32_t load = 0) {
  auto text = std::make_shared<const std::string>(
      ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n"
      "  .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<8>; .reg .f32 %f<8>;\n" +
      body + "\n ret;\n}\n");
  auto parsed = ptx::parse(text, "test");
  EXPECT_TRUE(parsed) << body;
  if (!parsed) return {};
  const auto module = std::make_unique<const ptx::Module>(std::move(*parsed));
  const auto function = describe(*module, module->functions.back());
  std::vector<std::string> lines;
  for (const ValueSink& s : value_flow(*function, load).sinks)
    lines.push_back(s.as_is ? fmt::format("{} stored {}>{}", s.instruction, s.element, s.target)
                            : fmt::format("{} used {}", s.instruction, s.element));
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}
using Lines = std::vector<std::string>;

TEST(ValueFlow, TellsWhatIsStoredAsItIsFromWhatIsComputed) {
  EXPECT_EQ(sinks("ld.shared.u32 %r1, [%r0]; st.global.u32 [%rd0], %r1;"), Lines{"1 stored 0>0"});
  EXPECT_EQ(sinks("ld.shared.u32 %r1, [%r0]; mov.b32 %r2, %r1; st.global.u32 [%rd0], %r2;"),
            Lines{"2 stored 0>0"});
  EXPECT_EQ(sinks("ld.shared.u32 %r1, [%r0]; add.u32 %r2, %r1, 1; st.global.u32 [%rd0], %r2;"),
            Lines{"2 used 0"});
  EXPECT_EQ(sinks("ld.shared.u32 %r1, [%r0]; red.global.add.u32 [%rd0], %r1;"), Lines{"1 used 0"});
  EXPECT_EQ(sinks("ld.shared.u32 %r1, [%r0]; ld.shared.u32 %r2, [%r1];"), Lines{"1 used 0"});
}

TEST(ValueFlow, FollowsEachElementOfAVector) {
  EXPECT_EQ(sinks("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0]; add.u32 %r5, %r2, 1;\n"
                  "st.global.v2.u32 [%rd1], {%r5, %r1}; st.global.u32 [%rd1+8], %r4;"),
            (Lines{"2 stored 0>1", "2 used 1", "3 stored 3>0"}));
}

TEST(ValueFlow, EndsWhereAnotherTakesOrDropsTheValue) {
  EXPECT_EQ(sinks("ld.shared.u32 %r1, [%r0]; shfl.sync.down.b32 %r2, %r1, 1, 31, -1;\n"
                  "st.global.u32 [%rd0], %r2;"),
            Lines{});
  EXPECT_EQ(
      sinks("ld.shared.u32 %r1, [%r0]; selp.u32 %r2, %r1, 0, %p0; st.global.u32 [%rd0], %r2;"),
      Lines{});
  // Registers that hold it beside others: a copy byte by byte, of padding too.
  EXPECT_EQ(sinks("ld.shared.u8 %r1, [%r0]; shl.b32 %r2, %r1, 8; or.b32 %r3, %r2, %r4;\n"
                  "st.global.u32 [%rd0], %r3;"),
            Lines{});
  EXPECT_EQ(sinks("ld.shared.u8 %r1, [%r0]; shl.b32 %r2, %r1, 8; st.global.u32 [%rd0], %r2;"),
            Lines{"2 used 0"});
  EXPECT_EQ(sinks("ld.shared.u8 %r1, [%r0]; or.b32 %r3, %r1, %r4; add.u32 %r3, %r3, 1;\n"
                  "st.global.u32 [%rd0], %r3;"),
            Lines{"3 used 0"});
  EXPECT_EQ(
      sinks("ld.shared.u32 %r1, [%r0]; mov.b64 %rd1, {%r1, %r2}; st.global.u64 [%rd0], %rd1;"),
      Lines{});
}

TEST(ValueFlow, GoesThroughConditions) {
  // A branch at once, and one that other paths come to.
  EXPECT_EQ(sinks("ld.shared.u32 %r1, [%r0]; setp.eq.u32 %p0, %r1, 0; @%p0 bra done;\n"
                  "st.global.u32 [%rd0], 1;\ndone:"),
            Lines{"0 used 0"});
  EXPECT_EQ(sinks("ld.shared.u32 %r1, [%r0]; @%p1 bra done; setp.eq.u32 %p0, %r1, 0;\n"
                  "@%p0 bra done; st.global.u32 [%rd0], 1;\ndone:"),
            Lines{});
  EXPECT_EQ(
      sinks("ld.shared.u32 %r1, [%r0]; setp.eq.u32 %p0, %r1, 0;\n"
            "selp.u32 %r2, 1, 2, %p0; @%p0 st.global.u32 [%rd0], 5; st.global.u32 [%rd0], %r2;"),
      (Lines{"3 used 0", "4 used 0"}));
}

TEST(ValueFlow, TakesARegisterOfSeveralPathsOnlyWhereTheLoadIs) {
  EXPECT_EQ(sinks("@%p1 bra join; ld.shared.u32 %r1, [%r0]; mov.u32 %r2, %r1;\n"
                  "join: st.global.u32 [%rd0], %r2; mov.u32 %r2, 0;",
                  1),
            Lines{"3 stored 0>0"});
  EXPECT_EQ(sinks("ld.shared.u32 %r1, [%r0]; mov.u32 %r2, 0; @%p1 bra join; mov.u32 %r2, %r1;\n"
                  "join: st.global.u32 [%rd0], %r2;"),
            Lines{});
}

TEST(ValueFlow, GoesRoundLoops) {
  EXPECT_EQ(sinks("again: ld.shared.u32 %r1, [%r0]; add.u32 %r2, %r2, %r1; add.u32 %r0, %r0, 4;\n"
                  "setp.lt.u32 %p0, %r0, 64; @%p0 bra again; st.global.u32 [%rd0], %r2;"),
            Lines{"5 used 0"});
}

TEST(ValueFlow, IsOfLoadsAlone) {
  EXPECT_EQ(
      sinks("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0]; st.global.u32 [%rd0], %r1;"),
      Lines{});
  EXPECT_EQ(sinks("st.global.u32 [%rd0], %r1;"), Lines{});
}

}  // namespace
}  // namespace inflight::machine
