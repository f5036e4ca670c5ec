// Frames of calls end with their calls, and use a bounded amount of host memory.
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

// `count` registers that are live across `body`. Each adds 128 bytes per warp to the frame.
std::string keeping(unsigned count, const std::string& body) {
  std::string before, after;
  for (unsigned i = 0; i < count; ++i) {
    const std::string r = "%k" + std::to_string(i);
    before += "add.u32 " + r + ", %r1, " + std::to_string(i) + ";\n";
    after += "xor.b32 %r2, %r2, " + r + ";\n";
  }
  return ".reg .b32 %k<" + std::to_string(count) + ">;\n" + before + body + after;
}

std::string call(const std::string& callee, const std::string& argument) {
  return "{ .param .b32 a; .param .b32 b; st.param.b32 [a], " + argument + ";\ncall (b), " +
         callee + ", (a);\nld.param.b32 %r3, [b]; add.u32 %r2, %r2, %r3; }\n";
}

std::string function(const std::string& name, const std::string& body) {
  return ".func (.param .b32 o) " + name + "(.param .b32 i) {\n.reg .b32 %r<9>; .reg .pred %p;\n" +
         "ld.param.b32 %r1, [i]; mov.u32 %r2, 0;\n" + body + "st.param.b32 [o], %r2; ret; }\n";
}

std::string launch_of(const std::string& callee, const std::string& argument) {
  return kernel_k("mov.u32 %r2, 0;\n" + call(callee, argument) + "st.global.u32 [%rd2], %r2;");
}

// The leaves of a binary tree of calls, with as many paths as leaves.
const std::string leaves = function("leaves",
                                    "setp.eq.u32 %p, %r1, 0;\n@%p mov.u32 %r2, 1;\n@%p bra DONE;\n"
                                    "sub.u32 %r4, %r1, 1;\n" +
                                        call("leaves", "%r4") + call("leaves", "%r4") + "DONE:\n");

TEST(Frames, EndWithTheirCalls) {
  PtxRunner r({leaves + launch_of("leaves", "14")});
  r.options.call_bytes = 256 << 10;
  auto* out = r.make<std::uint32_t>(32);
  const Outcome o = r.run("k", {}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  ASSERT_TRUE(o.ok()) << o.report;
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out[t], 1u << 14);
}

TEST(Frames, LanesLeaveThemAtTheirOwnDepths) {
  PtxRunner r({leaves + launch_of("leaves", "%r1")});
  auto* out = r.make<std::uint32_t>(10);
  const Outcome o = r.run("k", {}, {10, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  ASSERT_TRUE(o.ok()) << o.report;
  for (int t = 0; t < 10; ++t) EXPECT_EQ(out[t], 1u << t);
}

TEST(Frames, OfCallsFromManyPlacesDoNotAddUp) {
  const std::string one = function("one", "add.u32 %r2, %r1, 1;\n");
  std::string calls = "mov.u32 %r2, 0;\n";
  constexpr unsigned places = 2000;
  for (unsigned i = 0; i < places; ++i) calls += call("one", "%r1");
  PtxRunner r({one + kernel_k(calls + "st.global.u32 [%rd2], %r2;")});
  r.options.call_bytes = 256 << 10;
  auto* out = r.make<std::uint32_t>(32);
  const Outcome o = r.run("k", {}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  ASSERT_TRUE(o.ok()) << o.report;
  for (unsigned t = 0; t < 32; ++t) EXPECT_EQ(out[t], places * (t + 1));
}

TEST(Frames, ThreadsThatExitInsideLeaveThem) {
  const std::string last = function(
      "last", "setp.eq.u32 %p, %r1, 0;\n@%p exit;\nsub.u32 %r4, %r1, 1;\n" + call("last", "%r4"));
  PtxRunner r({last + launch_of("last", "%r1")});
  r.options.call_bytes = 256 << 10;
  EXPECT_TRUE(r.run("k", {600, 1, 1}, {64, 1, 1}, {0}).ok());
}

TEST(Frames, TheirMemoryIsBounded) {
  const std::string deep = function("deep", keeping(300, call("deep", "%r1")));
  PtxRunner r({deep + launch_of("deep", "1")});
  r.options.call_bytes = 16 << 20;
  const Outcome o = r.run("k", {}, {256, 1, 1}, {0});
  EXPECT_EQ(o.kind, FaultKind::stack_overflow);
  EXPECT_NE(o.report.find("more than 16 MiB of the host's memory"), o.report.npos) << o.report;
  EXPECT_LT(o.report.size(), 4000u) << o.report;
}

TEST(Frames, EndlessRecursionOverflowsTheStack) {
  PtxRunner r({".func f() { call f; ret; }\n" + kernel_k("call f;")});
  const Outcome o = r.run("k", {}, {32, 1, 1}, {0});
  EXPECT_EQ(o.kind, FaultKind::stack_overflow);
  EXPECT_LT(o.report.size(), 4000u) << o.report;
}

}  // namespace
}  // namespace inflight::machine
