// Calls at the machine's limits: callees that a prototype, a declaration or another module
// describes wrongly, builtins declared differently, frames that are too large; and calls that must
// work.
#include "ptx_runner.hpp"

namespace inflight::machine {
namespace {

std::string fault(const std::string& text, const std::string& kernel = "k") {
  PtxRunner m({text});
  return m.run(kernel, {1}, {32}, {reinterpret_cast<std::uint64_t>(m.make<int>(64))}).report;
}

void expect_fault(const std::string& text, const std::string& words) {
  const std::string report = fault(text);
  EXPECT_NE(report.find(words), std::string::npos) << text << "\n" << report;
}

// A kernel that calls through a register, with a prototype that passes `bytes` bytes.
std::string forged(const std::string& callee, unsigned bytes) {
  const std::string n = std::to_string(bytes);
  return callee + ".visible .entry k() { .reg .b64 %rd; .param .b8 big[" + n +
         "]; P: .callprototype _ (.param .b8 _[" + n +
         "]); mov.u64 %rd, f; call %rd, (big), P; ret; }";
}

TEST(Calls, AForgedPrototypeEndsTheKernel) {
  const std::string f = ".func f(.param .b32 p) { ret; } ";
  for (unsigned bytes : {2u, 200u, 2000u, 20000u, 240000u})
    expect_fault(forged(f, bytes),
                 "calls f with " + std::to_string(bytes) +
                     " bytes of arguments and no bytes of results; it takes 4 and "
                     "returns no");
  expect_fault(
      ".func (.param .b32 r) f() { ret; } .visible .entry k() { .reg .b64 %rd; .param .b8 "
      "big[4000]; P: .callprototype (.param .b8 _[4000]) _ (); mov.u64 %rd, f; call (big), "
      "%rd, P; ret; }",
      "calls f with no bytes of arguments and 4000 bytes of results; it takes no and returns "
      "4");
  expect_fault(
      ".visible .entry e(.param .u64 p) { ret; } .visible .entry k() { .reg .b64 %rd; .param "
      ".b64 a; P: .callprototype _ (.param .b64 _); mov.u64 %rd, e; call %rd, (a), P; ret; }",
      "calls e with 8 bytes of arguments");
}

TEST(Calls, WhatIsNoFunctionEndsTheKernel) {
  const auto called = [](const std::string& value) {
    return ".func f() { ret; } .visible .entry k() { .reg .b64 %r; mov.u64 %r, " + value +
           "; add.u64 %r, %r, 1; P: .callprototype _ (); call %r, P; ret; }";
  };
  for (const char* value : {"0", "f", "0x4141414141414141"})
    expect_fault(called(value), "calls an address that is not a function");
}

// One module declares it and another defines it. nvlink does not detect the difference either.
TEST(Calls, ADefinitionElsewhereOfOtherSizeIsRefused) {
  const std::string caller =
      ".extern .func (.param .b8 r[400]) f(.param .b8 p[400]); .visible .entry "
      "k() { .param .b8 x[400]; call (x), f, (x); ret; }";
  PtxRunner m({caller, ".visible .func (.param .b32 r) f(.param .b32 p) { ret; }"});
  const Outcome o = m.run("k", {1}, {1});
  EXPECT_EQ(o.kind, FaultKind::refused);
  EXPECT_NE(
      o.report.find("f is defined in m1 with different parameters or results than the call passes"),
      std::string::npos)
      << o.report;
}

TEST(Calls, ABuiltinDeclaredOtherwiseIsRefused) {
  const auto refused = [](const std::string& name, const std::string& text) {
    expect_fault(
        text, name +
                  " is declared with different parameters or results than the device runtime's " +
                  name);
  };
  refused("vprintf",
          ".extern .func (.param .b32 r) vprintf(.param .b8 a, .param .b8 b); .visible .entry "
          "k() { .param .b8 a; .param .b32 r; call (r), vprintf, (a, a); ret; }");
  refused("malloc",
          ".extern .func (.param .b8 r) malloc(.param .b64 a); .visible .entry k() { .param "
          ".b64 a; .param .b8 r; call (r), malloc, (a); ret; }");
  refused("free",
          ".extern .func (.param .b32 r) free(.param .b64 a); .visible .entry k() { .param "
          ".b64 a; .param .b32 r; call (r), free, (a); ret; }");
}

TEST(Calls, VariadicFunctionsAreRefused) {
  expect_fault(
      ".func f(.param .b32 n, .param .align 4 .b8 p[]) { ret; } .visible .entry k() { .param "
      ".b32 n; .param .align 4 .b8 x[8]; call f, (n, x); ret; }",
      "f is variadic (its parameter p has no size)");
}

// A call passes a register, a constant and a variable to parameters that are registers or not.
TEST(Calls, RegistersAndConstantsArePassed) {
  PtxRunner r({R"(
.visible .func (.param .u64 result) join(.reg .u32 high, .reg .u64 low, .param .u32 last) {
  .reg .u64 %a<4>; .reg .u32 %l;
  mul.wide.u32 %a1, high, 1000;
  ld.param.u32 %l, [last];
  cvt.u64.u32 %a2, %l;
  add.u64 %a1, %a1, low;
  add.u64 %a1, %a1, %a2;
  st.param.u64 [result], %a1;
  ret;
}
.visible .global .align 8 .u64 functions[2] = {0, join};
.visible .entry k(.param .u64 out) {
  .reg .u64 %o, %f, %low, %v<3>; .reg .u32 %t, %one; .reg .pred %p;
  .param .u64 got;
  .param .u32 last;
  named: .callprototype (.param .u64 _) _ (.reg .u32 a, .reg .u64 b, .param .u32 c);
  ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x;
  mov.u32 %one, 1;
  mad.wide.u32 %o, %t, 16, %o;
  cvt.u64.u32 %low, %t;
  st.param.u32 [last], 30;
  call (got), join, (7, %low, last);
  ld.param.u64 %v1, [got];
  st.global.u64 [%o], %v1;
  setp.ne.u32 %p, %t, 1;
  ld.global.u64 %f, functions[%one];
  @%p call (got), %f, (%t, 200, %one), named;
  @%p ld.param.u64 %v2, [got];
  @%p st.global.u64 [%o+8], %v2;
  ret;
})"});
  auto* const out = r.make<std::uint64_t>(6);
  const Outcome o = r.run("k", {1, 1, 1}, {3, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  ASSERT_TRUE(o.ok()) << o.report;
  const std::vector<std::uint64_t> expected{7030, 201, 7031, 0, 7032, 2201};
  EXPECT_EQ(std::vector<std::uint64_t>(out, out + 6), expected);
}

TEST(Calls, FramesLargerThanAThreadsLocalMemoryAreRefused) {
  const auto too_large = [](const std::string& locals) {
    expect_fault(".visible .entry k() { " + locals + " .reg .b32 %r; ld.local.u32 %r, [a]; ret; }",
                 "a thread has 524288");
  };
  too_large(".local .b8 a[524289];");
  too_large(".local .b8 a[4294967300];");
  too_large(".local .b8 a[2147483648]; .local .b8 b[2147483648]; .local .b8 g[64];");
  too_large(".local .align 2147483648 .b8 a[16];");
  too_large(".local .b8 a[16]; .param .b8 p[4294967296]; st.param.b32 [p+1000000], 1;");
  EXPECT_EQ(
      fault(".visible .entry k() { .local .align 16 .b8 a[524288]; .reg .b32 %r; mov.u32 %r, 1; "
            "st.local.u32 [a+524284], %r; ret; }"),
      "");
}

TEST(Calls, SharedMemoryAlignedPastItsEndIsRefused) {
  PtxRunner m(
      {".extern .shared .align 2147483648 .b8 a[]; .visible .entry k() { .reg .b32 %r; "
       "ld.shared.u8 %r, [a]; ret; }"});
  EXPECT_EQ(m.run("k", {1}, {1}, {}, 16).kind, FaultKind::invalid_launch);
}

TEST(Calls, TooFewParametersAreRefused) {
  PtxRunner m({".visible .entry k(.param .u64 out) { ret; }"});
  Launch launch;
  launch.kernel = m.program->kernel("k");
  const Outcome o = machine::run(launch, Limits{}, m.options, [](std::string_view) {});
  EXPECT_EQ(o.kind, FaultKind::invalid_launch);
}

// Aligned frames: a callee's .align 128 variable is aligned whatever precedes its frame.
TEST(Calls, CalleesFramesAreAlignedAsTheirVariablesAsk) {
  PtxRunner m(
      {".func (.param .b64 r) f() { .local .align 128 .b8 a[128]; .reg .b64 %rd; mov.u64 %rd, "
       "a; st.param.b64 [r], %rd; ret; }" +
       kernel_k(".local .b8 own[20]; st.local.u8 [own], 1; .param .b64 x; call (x), f; "
                "ld.param.b64 %rd3, [x]; and.b64 %rd3, %rd3, 127; st.global.u32 [%rd2], %rd3;")});
  auto* out = m.make<std::uint32_t>(32);
  std::fill_n(out, 32, 7u);
  const Outcome o = m.run("k", {1}, {32}, {reinterpret_cast<std::uint64_t>(out)});
  EXPECT_TRUE(o.ok()) << o.report;
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 0u) << i;
}

}  // namespace
}  // namespace inflight::machine
