// printf, assert, malloc and free, called from kernels.
#include "gpu/machine/builtins/builtins.hpp"

#include <fmt/format.h>

#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

// A format, and the instructions that store its arguments from [args] on.
struct Print {
  std::string format, arguments;
  unsigned bytes = 8;
};

std::string quoted(const std::string& text) {
  std::string bytes;
  for (unsigned char c : text) bytes += std::to_string(c) + ", ";
  return "{" + bytes + "0}";
}

std::string print_kernel(const Print& p) {
  return ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.global .align 1 "
         ".b8 "
         "format[" +
         std::to_string(p.format.size() + 1) + "] = " + quoted(p.format) +
         ";\n.global .align 1 .b8 word[6] = " + quoted("hello") + ";\n" + kernel_k(R"(
  .local .align 8 .b8 args[64];
  mov.u64 %rd3, args; cvta.local.u64 %rd4, %rd3;
  mov.u64 %rd5, format; cvta.global.u64 %rd5, %rd5;
  mov.u64 %rd6, word; cvta.global.u64 %rd6, %rd6;
)" + p.arguments + R"(
  { .param .b64 f; .param .b64 a; .param .b32 q;
  st.param.b64 [f], %rd5; st.param.b64 [a], %rd4;
  call.uni (q), vprintf, (f, a);
  ld.param.b32 %r9, [q]; }
  st.global.u32 [%rd2], %r9;)");
}

struct Result {
  std::string text;
  std::int32_t returned = 0;
};
Result print(const Print& p, unsigned threads = 1) {
  PtxRunner r({print_kernel(p)});
  auto* out = r.make<std::uint32_t>(threads);
  const Outcome o = r.run("k", {}, {threads, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  EXPECT_TRUE(o.ok()) << o.report;
  return {r.printed, std::int32_t(out[0])};
}

TEST(Printf, PlainText) {
  EXPECT_EQ(print({"100%% sure\n", ""}).text, "100% sure\n");
  EXPECT_EQ(print({"x", ""}).returned, 0);
}

TEST(Printf, EveryLaneItsMessageInOrder) {
  const Result r = print({"t%d\n", "st.local.u32 [args], %r1;"}, 40);
  std::string want;
  for (int i = 0; i < 40; ++i) want += "t" + std::to_string(i) + "\n";
  EXPECT_EQ(r.text, want);
  EXPECT_EQ(r.returned, 1);
}

TEST(Printf, Integers) {
  const std::string minus = "mov.u32 %r3, -3; st.local.u32 [args], %r3;";
  EXPECT_EQ(print({"%d|", minus}).text, "-3|");
  EXPECT_EQ(print({"%5i|", minus}).text, "   -3|");
  EXPECT_EQ(print({"%-5d|", minus}).text, "-3   |");
  EXPECT_EQ(print({"%05d|", minus}).text, "-0003|");
  EXPECT_EQ(print({"%u", minus}).text, "4294967293");
  EXPECT_EQ(print({"%#x %%", minus}).text, "0xfffffffd %");
  EXPECT_EQ(print({"%X", minus}).text, "FFFFFFFD");
  EXPECT_EQ(print({"%o", "mov.u32 %r3, 8; st.local.u32 [args], %r3;"}).text, "10");
  EXPECT_EQ(print({"%hd %hhu",
                   "mov.u32 %r3, 65537; st.local.u32 [args], %r3; st.local.u32 [args+4], %r3;"})
                .text,
            "1 1");
}

TEST(Printf, ArgumentsAreAlignedToTheirSize) {
  const Result r = print({"%d %lld %c %zu", R"(
  mov.u32 %r3, 1; st.local.u32 [args], %r3;
  mov.u64 %rd7, -5000000000; st.local.u64 [args+8], %rd7;
  mov.u32 %r3, 65; st.local.u32 [args+16], %r3;
  mov.u64 %rd7, 123456789012; st.local.u64 [args+24], %rd7;)"});
  EXPECT_EQ(r.text, "1 -5000000000 A 123456789012");
  EXPECT_EQ(r.returned, 4);
}

TEST(Printf, Floats) {
  const std::string value = "mov.f64 %fd1, 0d400921FB54442D18; st.local.f64 [args], %fd1;";
  EXPECT_EQ(print({"%f", value}).text, "3.141593");
  EXPECT_EQ(print({"%.2f %%", value}).text, "3.14 %");
  EXPECT_EQ(print({"%10.3e|", value}).text, " 3.142e+00|");
  EXPECT_EQ(print({"%g", value}).text, "3.14159");
  EXPECT_EQ(print({"%a", value}).text, "0x1.921fb54442d18p+1");
  EXPECT_EQ(print({"%+.0f", value}).text, "+3");
}

TEST(Printf, StringsAndPointers) {
  const std::string word = "st.local.u64 [args], %rd6;";
  EXPECT_EQ(print({"<%s>", word}).text, "<hello>");
  EXPECT_EQ(print({"<%8s|%.2s>", word + "st.local.u64 [args+8], %rd6;"}).text, "<   hello|he>");
  EXPECT_EQ(print({"%s", "mov.u64 %rd7, 0; st.local.u64 [args], %rd7;"}).text, "(null)");
  EXPECT_EQ(print({"%p", "mov.u64 %rd7, 4096; st.local.u64 [args], %rd7;"}).text, "0x1000");
}

TEST(Printf, WidthAndPrecisionFromArguments) {
  EXPECT_EQ(print({"%*d|%-*d|%.*f", R"(
  mov.u32 %r3, 4; st.local.u32 [args], %r3; st.local.u32 [args+4], %r3;
  st.local.u32 [args+8], %r3; st.local.u32 [args+12], %r3;
  mov.u32 %r3, 1; st.local.u32 [args+16], %r3;
  mov.f64 %fd1, 0d3FF4000000000000; st.local.f64 [args+24], %fd1;)"})
                .text,
            "   4|4   |1.2");
}

TEST(Printf, HoldsLittleOfALongMessage) {
  PtxRunner r(
      {print_kernel({std::string("%900000d").append("%900000d").append("%900000d\n"), ""})});
  std::size_t longest = 0, all = 0;
  r.print = [&](std::string_view text) {
    longest = std::max(longest, text.size());
    all += text.size();
  };
  auto* out = r.make<std::uint32_t>(32);
  ASSERT_TRUE(r.run("k", {}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(out)}).ok());
  EXPECT_EQ(all, 32u * 2700001);
  EXPECT_LT(longest, 1000000u);
}

TEST(Printf, ANullFormatReturnsMinusOne) {
  EXPECT_EQ(print({"x", "mov.u64 %rd5, 0;"}).returned, -1);
}

TEST(Printf, AWildStringIsAFault) {
  PtxRunner r({print_kernel({"%s", "mov.u64 %rd7, 4097; st.local.u64 [args], %rd7;"})});
  const Outcome o = r.run("k", {}, {1, 1, 1}, {0});
  EXPECT_EQ(o.kind, FaultKind::illegal_address);
  EXPECT_NE(o.report.find("printf's %s argument is out of bounds"), o.report.npos) << o.report;
}

// A kernel whose threads from number 38 on fail an assertion.
std::string asserts(const std::string& expression, const std::string& file) {
  const auto text = [](const char* name, const std::string& words) {
    return fmt::format(".global .align 1 .b8 {}[{}] = {};\n", name, words.size() + 1,
                       quoted(words));
  };
  return kernel_k(R"(
  mov.u32 %r4, %tid.y; mad.lo.u32 %r1, %r4, 20, %r1;
  setp.lt.u32 %p1, %r1, 38;
  @%p1 bra FINE;
  { .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;
  mov.u64 %rd3, e; cvta.global.u64 %rd3, %rd3; st.param.b64 [p0], %rd3;
  mov.u64 %rd3, f; cvta.global.u64 %rd3, %rd3; st.param.b64 [p1], %rd3;
  mov.u32 %r3, 17; st.param.b32 [p2], %r3;
  mov.u64 %rd3, n; cvta.global.u64 %rd3, %rd3; st.param.b64 [p3], %rd3;
  mov.u64 %rd3, 1; st.param.b64 [p4], %rd3;
  call.uni __assertfail, (p0, p1, p2, p3, p4); }
FINE:)",
                  ".extern .func __assertfail(.param .b64 e, .param .b64 f, .param .b32 l, "
                  ".param .b64 n, .param .b64 s);\n" +
                      text("e", expression) + text("f", file) + text("n", "void k()"));
}

TEST(Assert, SaysWhatCudaSays) {
  PtxRunner r({asserts("x > 1", "a.cu")});
  testing::internal::CaptureStderr();
  const Outcome o = r.run("k", {}, {20, 2, 1}, {0});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a.cu:17: void k(): block: [0,0,0], thread: [18,1,0] Assertion `x > 1` failed.\n"
            "a.cu:17: void k(): block: [0,0,0], thread: [19,1,0] Assertion `x > 1` failed.\n");
  EXPECT_EQ(o.kind, FaultKind::assertion);
}

TEST(Assert, GivesTheTerminalNothingToObey) {
  PtxRunner r({asserts("\033[31mx", "a\nb.cu")});
  testing::internal::CaptureStderr();
  const Outcome o = r.run("k", {}, {39, 1, 1}, {0});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a\\x0ab.cu:17: void k(): block: [0,0,0], thread: [38,0,0] Assertion `\\x1b[31mx` "
            "failed.\n");
  EXPECT_EQ(o.report.find('\033'), std::string::npos);
}

const std::string heap =
    ".extern .func (.param .b64 r) malloc(.param .b64 s);\n"
    ".extern .func free(.param .b64 p);\n";
std::string allocate(const std::string& size) {
  return "{ .param .b64 s; .param .b64 q; mov.u64 %rd9, " + size +
         "; st.param.b64 [s], %rd9; call.uni (q), malloc, (s); ld.param.b64 %rd5, [q]; }\n";
}
const std::string release = "{ .param .b64 p; st.param.b64 [p], %rd5; call.uni free, (p); }\n";

TEST(Heap, EachThreadGetsItsOwnMemory) {
  PtxRunner r({kernel_k(allocate("64") + R"(
  st.u32 [%rd5+60], %r1;
  bar.sync 0;
  ld.u32 %r9, [%rd5+60];
  st.global.u32 [%rd2], %r9;
)" + release,
                        heap)});
  auto* out = r.make<std::uint32_t>(64);
  const Outcome o = r.run("k", {}, {64, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  ASSERT_TRUE(o.ok()) << o.report;
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t);
  EXPECT_EQ(r.memory.heap_used(0), 0u);
}

TEST(Heap, TheLimitGivesNull) {
  PtxRunner r(
      {kernel_k(allocate("600") + "cvt.u32.u64 %r9, %rd5; st.global.u32 [%rd2], %r9;", heap)});
  r.options.heap_bytes = 1000;
  auto* out = r.make<std::uint32_t>(2);
  ASSERT_TRUE(r.run("k", {}, {2, 1, 1}, {reinterpret_cast<std::uint64_t>(out)}).ok());
  EXPECT_NE(out[0], 0u);
  EXPECT_EQ(out[1], 0u);
  EXPECT_EQ(r.memory.heap_used(0), heap_charge(600));
}

TEST(Heap, SmallAllocationsCountWithTheirHeaders) {
  PtxRunner r({kernel_k("mov.u32 %r9, 0; NEXT: " + allocate("1") + R"(
  setp.ne.u64 %p1, %rd5, 0;
  @%p1 add.u32 %r9, %r9, 1;
  @%p1 bra NEXT;
  st.global.u32 [%rd2], %r9;)",
                        heap)});
  r.options.heap_bytes = 64 << 10;
  auto* out = r.make<std::uint32_t>(1);
  ASSERT_TRUE(r.run("k", {}, {1, 1, 1}, {reinterpret_cast<std::uint64_t>(out)}).ok());
  EXPECT_EQ(out[0], (64 << 10) / heap_charge(1));
}

TEST(Heap, WhatEndsBadlyIsNamed) {
  PtxRunner after({kernel_k(allocate("64") + release + "st.u32 [%rd5], %r1;", heap)});
  const Outcome stale = after.run("k", {}, {1, 1, 1}, {0});
  EXPECT_EQ(stale.kind, FaultKind::illegal_address);
  EXPECT_NE(stale.report.find("heap allocation"), std::string::npos) << stale.report;
  EXPECT_NE(stale.report.find("freed"), std::string::npos) << stale.report;
  PtxRunner past({kernel_k(allocate("64") + "st.u32 [%rd5+64], %r1;", heap)});
  EXPECT_EQ(past.run("k", {}, {1, 1, 1}, {0}).kind, FaultKind::illegal_address);
  PtxRunner twice({kernel_k(allocate("64") + release + release, heap)});
  const Outcome again = twice.run("k", {}, {1, 1, 1}, {0});
  EXPECT_EQ(again.kind, FaultKind::illegal_address);
  EXPECT_NE(again.report.find("free() of an address"), std::string::npos) << again.report;
}

TEST(Builtins, OthersAreRefusedByName) {
  EXPECT_EQ(find_builtin("__cudaCDP2DeviceGetCacheConfig"), nullptr);
  PtxRunner r({kernel_k("{ .param .b32 q; call.uni (q), cudaDeviceSynchronize, (); }",
                        ".extern .func (.param .b32 r) cudaDeviceSynchronize();\n")});
  const Outcome o = r.run("k", {}, {1, 1, 1}, {0});
  EXPECT_EQ(o.kind, FaultKind::refused);
  EXPECT_NE(o.report.find("cudaDeviceSynchronize"), std::string::npos) << o.report;
}

}  // namespace
}  // namespace inflight::machine
