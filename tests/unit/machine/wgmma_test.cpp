// wgmma's asynchrony: the registers before and after a warpgroup's waits, later moves, and reports
// of broken rules. tests/gpu/tensor_core_truth tests its results.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

using ::testing::HasSubstr;

// A kernel for whole warpgroups. Shared memory is full of bf16 ones, described by %rd4. %f0 to %f3
// are accumulators, 100 to 103. %r10 to %r13 are fragments of A, full of ones. %r1 is the thread.
// Each thread's result is %f9 at the end.
std::string kernel(const std::string& body, const std::string& functions = {}) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n" + functions + R"(
.visible .entry k(.param .u64 out) {
  .shared .align 1024 .b8 tile[4096];
  .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<40>; .reg .pred %p<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  mov.u32 %r2, tile;
  and.b32 %r6, %r1, 127;
  mad.lo.u32 %r3, %r6, 32, %r2;
  mov.b32 %r4, 0x3f803f80;
  st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};
  st.shared.v4.b32 [%r3+16], {%r4, %r4, %r4, %r4};
  fence.proxy.async.shared::cta;
  bar.sync 0;
  shr.u32 %r5, %r2, 4;
  cvt.u64.u32 %rd4, %r5;
  or.b64 %rd4, %rd4, 0x0000000800080000;
  mov.b32 %r10, %r4; mov.b32 %r11, %r4; mov.b32 %r12, %r4; mov.b32 %r13, %r4;
  mov.f32 %f0, 0f42C80000; mov.f32 %f1, 0f42CA0000; mov.f32 %f2, 0f42CC0000; mov.f32 %f3, 0f42CE0000;
  setp.eq.u32 %p1, %r4, %r4;
  wgmma.fence.sync.aligned;
)" + body +
         "\n  st.global.f32 [%rd1], %f9;\n  ret;\n}\n";
}
constexpr const char* from_shared =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd4, %rd4, %p1, 1, "
    "1, 0, 0;\n";
constexpr const char* from_registers =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%r10, %r11, %r12, "
    "%r13}, %rd4, %p1, 1, 1, 0;\n";
constexpr const char* commit = "wgmma.commit_group.sync.aligned;\n";
constexpr const char* wait = "wgmma.wait_group.sync.aligned 0;\n";
constexpr const char* answer = "mov.f32 %f9, %f1;\n";

struct Result {
  Outcome outcome;
  std::vector<float> values;
};
Result run(const std::string& text, async::Timing timing = async::late, unsigned threads = 128) {
  PtxRunner runner({text}, false);
  runner.options.timing = timing;
  auto* const out = runner.make<float>(1024);
  Result result;
  result.outcome =
      runner.run("k", {1, 1, 1}, {threads, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  result.values.assign(out, out + threads);
  return result;
}
// Expects this value in all threads.
void expect(const std::string& body, float value, async::Timing timing = async::late) {
  const Result r = run(kernel(body), timing);
  EXPECT_TRUE(r.outcome.ok()) << r.outcome.report;
  EXPECT_THAT(r.values, ::testing::Each(value)) << body;
}

const std::vector<async::Timing> timings{async::early, async::late, async::shuffled(1),
                                         async::shuffled(2)};

TEST(Wgmma, GivesItsResultBehindTheWait) {
  for (const auto timing : timings) {
    expect(std::string(from_shared) + commit + wait + answer, 117, timing);
    expect(std::string(from_registers) + commit + wait + answer, 117, timing);
    expect(
        std::string(from_shared) + from_registers + commit + from_shared + commit + wait + answer,
        149, timing);
  }
}

TEST(Wgmma, HasNotWrittenItsAccumulatorsBefore) {
  expect(std::string(from_shared) + commit + "add.f32 %f9, %f1, 0f00000000;\n" + wait, 101);
}

TEST(Wgmma, ReadsItsOperandsAsLateAsItMay) {
  const std::string twos = "or.b32 %r10, %r10, 0x40004000; and.b32 %r10, %r10, 0x40004000;\n";
  expect(from_registers + std::string(commit) + twos + wait + answer, 101 + 8 * 2 + 8);
  expect(std::string(from_registers) + commit + "add.f32 %f1, %f1, 0f3F800000;\n" + wait + answer,
         118);
  expect(std::string(from_shared) + commit +
             "bar.sync 0; mov.b32 %r20, 0; st.shared.v4.b32 [%r3], {%r20, %r20, %r20, %r20};\n"
             "st.shared.v4.b32 [%r3+16], {%r20, %r20, %r20, %r20}; bar.sync 0;\n" +
             wait + answer,
         101);
}

TEST(Wgmma, LeavesAllowedGroupsInFlight) {
  expect(std::string(from_shared) + commit + from_shared + commit +
             "wgmma.wait_group.sync.aligned 1;\nadd.f32 %f9, %f1, 0f00000000;\nbar.sync 0;\n" +
             wait,
         117);
}

// Compilers move accumulators before the wait, since the assembler gives both one register.
TEST(Wgmma, IsFollowedByMovesOfItsAccumulators) {
  for (const auto timing : timings) {
    expect(std::string(from_shared) + commit + "mov.f32 %f9, %f1;\n" + wait, 117, timing);
    expect(std::string(from_shared) + commit + "mov.b32 %r20, %f1; mov.b32 %f9, %r20;\n" + wait,
           117, timing);
    expect("mov.b32 %r14, 0;\n" + std::string(from_registers) + commit + "mov.b32 %r10, %r14;\n" +
               wait + answer,
           117, timing);
    expect("setp.ge.u32 %p2, %r1, 0;\n" + std::string(from_shared) + commit +
               "@%p2 mov.f32 %f9, %f1;\n" + wait,
           117, timing);
  }
}

// If arrays are in local memory, compilers store accumulators there at once, and the assembler
// inserts a wait.
TEST(Wgmma, IsDoneWhereItsAccumulatorsGoToLocalMemory) {
  for (const auto timing : timings) {
    expect(".local .b32 spilled;\n" + std::string(from_shared) + commit +
               "st.local.f32 [spilled], %f1;\nld.local.f32 %f9, [spilled];\n" + wait,
           117, timing);
    expect(".local .b32 spilled;\n.reg .b64 %at;\n" + std::string(from_shared) + commit +
               "cvta.local.u64 %at, spilled;\nst.f32 [%at], %f1;\n"
               "ld.local.f32 %f9, [spilled];\n" +
               wait,
           117, timing);
  }
}

// Triton adds partial sums of 8-bit floats this way.
TEST(Wgmma, IsDoneWhereItsAccumulatorsAreReadBeforeTheCommit) {
  for (const auto timing : timings)
    expect(std::string(from_shared) + "add.f32 %f9, %f1, 0f00000000;\n" + commit + wait, 117,
           timing);
}

// The accumulators are not read, so their slots could have been reused for later values.
TEST(Wgmma, WritesNobodyElsesRegisters) {
  std::string body = std::string(from_shared) + commit;
  for (int i = 10; i < 40; ++i) body += fmt::format("cvt.rn.f32.u32 %f{}, %r2;\n", i);
  body += wait;
  body += "mov.f32 %f9, 0f00000000;\n";
  for (int i = 10; i < 40; ++i) body += fmt::format("sub.f32 %f9, %f{}, %f9;\n", i);
  expect(body, 0);
}

// One thread's wait covers all four warps. Here the first warp clears data that the others' parts
// would otherwise still read.
TEST(Wgmma, IsCompleteForAllWarpsOnceOneHasWaited) {
  expect(std::string(from_shared) + commit + R"(
    setp.ge.u32 %p2, %r1, 32;
    @%p2 bra later;
    wgmma.wait_group.sync.aligned 0;
    mov.b32 %r20, 0; mov.u32 %r21, 0; mad.lo.u32 %r22, %r1, 16, %r2;
  clear:
    st.shared.v4.b32 [%r22], {%r20, %r20, %r20, %r20};
    add.u32 %r22, %r22, 512; add.u32 %r21, %r21, 512; setp.lt.u32 %p3, %r21, 4096;
    @%p3 bra clear;
  later:
    bar.sync 0;
)" + wait + answer,
         117);
}

TEST(Wgmma, WaitsForWarpsThatComeLater) {
  expect("setp.lt.u32 %p2, %r1, 96;\n@%p2 bra now;\nnanosleep.u32 20000;\nnow:\n" +
             std::string(from_shared) + commit + wait + answer,
         117);
}

TEST(Wgmma, GathersLanesThatStandApart) {
  expect(
      "and.b32 %r20, %r1, 1; setp.eq.u32 %p2, %r20, 0;\n@%p2 bra even;\nadd.f32 %f9, %f1, %f1;\n"
      "even:\n" +
          std::string(from_shared) + commit + wait + answer,
      117);
}

TEST(Wgmma, MultipliesForEachWarpgroupApart) {
  const Result r = run(kernel(std::string(from_shared) + commit + wait + answer), async::late, 384);
  ASSERT_TRUE(r.outcome.ok()) << r.outcome.report;
  EXPECT_THAT(r.values, ::testing::Each(117.f));
}

// Its registers belong to the frame of a function that returns. The assembler waits there.
TEST(Wgmma, IsDoneWhereAFunctionIssuedIt) {
  const std::string function = R"(
.func (.param .b32 result) f(.param .b64 descriptor) {
  .reg .f32 %f<4>; .reg .b64 %rd4; .reg .pred %p1; .reg .b32 %r1;
  ld.param.u64 %rd4, [descriptor];
  mov.f32 %f0, 0f42C80000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 0;
  wgmma.fence.sync.aligned;
)" + std::string(from_shared) + commit +
                               "  st.param.f32 [result], %f1;\n  ret;\n}\n";
  const std::string call =
      "{ .param .b64 d; .param .b32 r; st.param.b64 [d], %rd4; call (r), f, (d); "
      "ld.param.f32 %f9, [r]; }\n";
  const Result r = run(kernel(call + wait, function));
  ASSERT_TRUE(r.outcome.ok()) << r.outcome.report;
  EXPECT_THAT(r.values, ::testing::Each(116.f));
}

// --- rules ---

void expect_fault(const std::string& body, FaultKind kind, const std::string& words,
                  unsigned threads = 128) {
  const Result r = run(kernel(body), async::late, threads);
  EXPECT_EQ(r.outcome.kind, kind) << r.outcome.report;
  EXPECT_THAT(r.outcome.report, HasSubstr(words));
}

TEST(WgmmaRules, AWarpgroupHasFourWholeWarps) {
  const std::string body = std::string(from_shared) + commit + wait;
  expect_fault(body, FaultKind::illegal_instruction, "four whole warps", 96);
  expect_fault(body, FaultKind::illegal_instruction, "four whole warps", 160);
  expect_fault(body, FaultKind::illegal_instruction, "four whole warps", 127);
}

TEST(WgmmaRules, WarpsOfAGroupExecuteTheSame) {
  expect_fault("setp.ge.u32 %p2, %r1, 64;\n@%p2 bra other;\n" + std::string(from_shared) +
                   "bra on;\nother:\n" + from_registers + "on:\n" + commit + wait,
               FaultKind::illegal_instruction, "must execute the same wgmma.mma_async");
}

TEST(WgmmaRules, AWarpThatNeverComesIsNamed) {
  expect_fault("setp.ge.u32 %p2, %r1, 96;\n@%p2 bra on;\n" + std::string(from_shared) + commit +
                   wait + "on:\n",
               FaultKind::deadlock,
               "wait for multiplications that warp 3 of their warpgroup has not issued");
}

TEST(WgmmaRules, LanesGiveOneDescriptor) {
  expect_fault("cvt.u64.u32 %rd5, %r1; add.s64 %rd4, %rd4, %rd5;\n" + std::string(from_shared),
               FaultKind::illegal_instruction, "different descriptors");
}

TEST(WgmmaRules, MatricesLieInTheBlocksSharedMemory) {
  expect_fault("or.b64 %rd4, %rd4, 0x3f00;\n" + std::string(from_shared),
               FaultKind::illegal_address, "matrix A covers shared memory from offset");
}

}  // namespace
}  // namespace inflight::machine
