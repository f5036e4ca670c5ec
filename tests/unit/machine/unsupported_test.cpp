// Instructions that the machine does not support: a kernel runs until it reaches one.
#include "tests/unit/machine/event_log.hpp"
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

using check::Topic;

// Every form in which code is decoded: with or without listeners and their topics, and clusters.
constexpr Topic listeners[] = {
    Topic{},         Topic::instructions,
    Topic::accesses, Topic::fences | Topic::barriers | Topic::collectives | Topic::waits,
    Topic::counts,   Topic::all,
};

// Calls `body` with a runner for each form.
template <class Body>
void in_every_form(const std::string& text, const Body& body) {
  for (const Topic topics : listeners) {
    PtxRunner r({text});
    EventLog log(topics);
    if (topics != Topic{}) r.options.listener = &log;
    SCOPED_TRACE(testing::Message() << "topics " << static_cast<unsigned>(topics));
    body(r);
  }
}

const std::string writes_three_words = kernel_k(R"(
  setp.lt.u32 %p1, %r1, 7;
  st.global.u32 [%rd1], 1;
  @%p1 frobnicate.u32 %r3, [%rd1];
  st.global.u32 [%rd1+4], 2;
  frobnicate.u64 %rd3, [%rd1];
  st.global.u32 [%rd1+8], 3;)");

TEST(Unsupported, AKernelRunsUntilItReachesOne) {
  in_every_form(writes_three_words, [](PtxRunner& r) {
    auto* out = r.make<std::uint32_t>(3);
    const Outcome o = r.run("k", {2, 1, 1}, {64, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
    EXPECT_EQ(o.kind, FaultKind::refused);
    EXPECT_EQ(o.report.find("not supported in kernel k: frobnicate.u32 (`frobnicate.u32` is not a "
                            "known instruction)\n"
                            "  PTX:    line 14: @%p1 frobnicate.u32 %r3, [%rd1];\n"
                            "  thread: (0,0,0) of block ("),
              0u)
        << o.report;
    EXPECT_NE(o.report.find("and 6 more threads of its warp"), o.report.npos) << o.report;
    EXPECT_EQ(out[0], 1u);
    EXPECT_EQ(out[1], 0u);
  });
}

TEST(Unsupported, WhatIsGuardedOffOrNotReachedChangesNothing) {
  in_every_form(
      kernel_k(R"(
  setp.gt.u32 %p1, %r1, 1000;
  @%p1 frobnicate.u32 %r3, [%rd1];
  @%p1 call nowhere;
  @!%p1 bra never;
  multimem.what.u32 [%rd1], %r1, %r2, %r3;
  never:
  mov.u32 %r9, %clock;
  setp.eq.u32 %p1, %r9, 0;
  @!%p1 st.global.u32 [%rd2], %r1;)",
               ".extern .func nowhere();\n"),
      [](PtxRunner& r) {
        auto* out = r.make<std::uint32_t>(32);
        const Outcome o = r.run("k", {1, 1, 1}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
        ASSERT_TRUE(o.ok()) << o.report;
        for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out[i], i);
      });
}

TEST(Unsupported, InAClusterAndInACalledFunction) {
  in_every_form(R"(
.func f(.param .u64 out) { .reg .b64 %d1; ld.param.u64 %d1, [out]; st.global.u32 [%d1+4], 2; frobnicate; ret; }
)" + kernel_k(R"(
  st.global.u32 [%rd1], 1;
  { .param .u64 a; st.param.u64 [a], %rd1; call f, (a); }
  st.global.u32 [%rd1+8], 3;)"),
                [](PtxRunner& r) {
                  auto* out = r.make<std::uint32_t>(3);
                  Launch launch;
                  launch.kernel = r.program->kernel("k");
                  launch.grid = {4, 1, 1}, launch.block = {32, 1, 1}, launch.cluster = {2, 1, 1};
                  launch.parameters.resize(8);
                  std::memcpy(launch.parameters.data(), &out, 8);
                  const Outcome o = run(launch, r.limits, r.options, r.print);
                  EXPECT_EQ(o.kind, FaultKind::refused);
                  EXPECT_NE(o.report.find("frobnicate"), o.report.npos) << o.report;
                  EXPECT_NE(o.report.find("called from"), o.report.npos) << o.report;
                  EXPECT_EQ(out[1], 2u);
                  EXPECT_EQ(out[2], 0u);
                });
}

// A function that cannot start ends the kernel at its call. A kernel that cannot is not launched.
TEST(Unsupported, AFunctionThatCannotBegin) {
  const std::string big = ".local .b8 frame[1000000];";
  PtxRunner r({".func f() { " + big + " ret; }\n" + kernel_k(R"(
  setp.gt.u32 %p1, %r1, 7;
  @!%p1 st.global.u32 [%rd1], 1;
  @%p1 call f;)"),
               ".visible .entry large() { " + big + " ret; }"});
  auto* out = r.make<std::uint32_t>(1);
  const auto argument = reinterpret_cast<std::uint64_t>(out);
  EXPECT_TRUE(r.run("k", {1, 1, 1}, {8, 1, 1}, {argument}).ok());
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(r.run("k", {1, 1, 1}, {9, 1, 1}, {argument}).kind, FaultKind::refused);
  const Unsupported called = unsupported(*r.program->kernel("k")),
                    large = unsupported(*r.program->kernel("large"));
  EXPECT_TRUE(called.kernel.empty());
  EXPECT_EQ(called.instructions.size(), 1u);
  EXPECT_EQ(large.kernel.size(), 1u);
  EXPECT_TRUE(large.instructions.empty());
}

}  // namespace
}  // namespace inflight::machine
