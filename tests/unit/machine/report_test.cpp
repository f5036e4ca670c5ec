// The report of a fault: kernel, source line, PTX line, thread.
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

void expect_parts(const std::string& report, const std::vector<std::string>& parts) {
  for (const auto& part : parts)
    EXPECT_NE(report.find(part), std::string::npos) << part << "\nis not in\n" << report;
}

TEST(Report, ABadStoreIsPlacedInSourceAndPtx) {
  PtxRunner r({R"(
.visible .entry _Z5scalePfi(.param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  .loc 1 10 3
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.y;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  .loc 1 12 7
  st.global.u32 [%rd1], %r1;
  ret;
}
.file 1 "/src/scale.cu"
)"});
  auto* out = r.make<std::uint32_t>(4);
  const Outcome o =
      r.run("_Z5scalePfi", {2, 3, 1}, {2, 6, 1}, {reinterpret_cast<std::uint64_t>(out)});
  EXPECT_EQ(o.kind, FaultKind::illegal_address);
  expect_parts(
      o.report,
      {"illegal memory access in kernel scale(float*, int): a 4-byte write to global memory",
       "0 bytes past the end of the 16-byte device allocation", "source: /src/scale.cu:12:7",
       "line 13: st.global.u32 [%rd1], %r1;", "thread: (0,4,0) of block (0,0,0)",
       "launched as (2,3,1) blocks of (2,6,1) threads"});
}

TEST(Report, GivesTheTerminalNothingToObey) {
  PtxRunner r(
      {".visible .entry k() {\n  .loc 1 3 1\n  trap; // \033[31m \xc2\x9b\n  ret;\n}\n"
       ".file 1 \"/src/\033]0;x\007.cu\"\n"});
  const Outcome o = r.run("k", {}, {});
  EXPECT_EQ(o.kind, FaultKind::trap);
  expect_parts(o.report, {"source: /src/\\x1b]0;x\\x07.cu:3:1", "trap; // \\x1b[31m \\u009b"});
  EXPECT_EQ(o.report.find_first_of("\033\007\x9b"), std::string::npos);
}

TEST(Report, TheCallersAreNamed) {
  PtxRunner r({R"(
.visible .func inner() { .reg .b64 %rd1; mov.u64 %rd1, 8; st.global.u64 [%rd1], %rd1; ret; }
.visible .func outer() { call inner; ret; }
.visible .entry k() { call outer; ret; }
)"});
  const Outcome o = r.run("k", {}, {});
  expect_parts(o.report, {"null pointer", "called from PTX line 6: ", "called from PTX line 7: "});
}

TEST(Report, InlinedCodeNamesTheWholeChain) {
  PtxRunner r({R"(
.visible .entry k() {
  .loc 1 30 5
  .loc 1 8 9, function_name $name, inlined_at 1 30 5
  trap;
  ret;
}
.file 1 "a.cu"
.section .debug_str {
$name:
.b8 95,90,53,99,108,97,109,112,102
.b8 0
}
)"});
  const Outcome o = r.run("k", {}, {});
  EXPECT_EQ(o.kind, FaultKind::trap);
  expect_parts(o.report, {"trap in kernel k", "a.cu:8:9", "inlined at a.cu:30:5"});
}

TEST(Report, TheMiddleOfALongChainIsLeftOut) {
  std::string text = ".visible .entry k() {\n  .loc 1 1 1\n";
  for (int line = 2; line <= 9; ++line)
    text += "  .loc 1 " + std::to_string(line) + " 1, function_name $name, inlined_at 1 " +
            std::to_string(line - 1) + " 1\n";
  PtxRunner r({text + R"(
  trap;
  ret;
}
.file 1 "a.cu"
.section .debug_str {
$name:
.b8 111,119,110
.b8 0
}
)"});
  const Outcome o = r.run("k", {}, {});
  expect_parts(o.report,
               {"a.cu:9:1, in own inlined at a.cu:8:1, inlined through 5 more, in own inlined "
                "at a.cu:2:1, in own inlined at a.cu:1:1"});
}

TEST(Report, LinesAreCountedAcrossLabelsAndDirectives) {
  PtxRunner r({R"(
.visible .entry k() {
  bra L;
L:
  .loc 1 2 3
  trap;
  ret;
}
.file 1 "a.cu"
)"});
  expect_parts(r.run("k", {}, {}).report, {"line 9: trap;"});
}

TEST(Report, WhoWaitsForWhichPhaseOfAnMbarrier) {
  PtxRunner r({R"(
.visible .entry k() {
  .shared .align 8 .b64 m; .reg .pred %p; .reg .b64 %rd<3>;
  mbarrier.init.shared.b64 [m], 3;
  mbarrier.arrive.shared.b64 %rd1, [m];
WAIT:
  mbarrier.try_wait.shared.b64 %p, [m], %rd1;
  @!%p bra WAIT;
  ret;
}
)"});
  const Outcome o = r.run("k", {}, {});
  EXPECT_EQ(o.kind, FaultKind::deadlock);
  expect_parts(o.report, {"deadlock in kernel k", "wait for the mbarrier at shared offset 0x400",
                          "lacks 2 of 3 arrivals", "mbarrier.try_wait.shared.b64"});
}

TEST(Report, ALoopWithoutAWayOutIsADeadlock) {
  for (const char* const loop :
       {"L: bra L;", "L: add.u32 %r1, %r1, 1; @%p1 bra L; bra M; M: bra L;",
        "@%p1 bra L; ret; L: bra L;"}) {
    PtxRunner r({std::string(".visible .entry k() { .reg .b32 %r<2>; .reg .pred %p<2>;\n"
                             "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3;\n") +
                 loop + " }"});
    const Outcome o = r.run("k", {}, {64, 1, 1});
    EXPECT_EQ(o.kind, FaultKind::deadlock) << loop;
    expect_parts(o.report, {"deadlock in kernel k", "repeat a loop that has no way out"});
  }
}

TEST(Report, ATimeoutDoesNotHang) {
  PtxRunner r({".visible .entry k() { L: nanosleep.u32 20; bra L; }"});
  r.options.timeout = std::chrono::milliseconds(50);
  const Outcome o = r.run("k", {}, {64, 1, 1});
  EXPECT_EQ(o.kind, FaultKind::timeout);
  EXPECT_FALSE(o.report.empty());
}

}  // namespace
}  // namespace inflight::machine
