// Named barriers: counts, reductions, phases, exits.
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

std::vector<std::uint32_t> threads_of(const std::string& body, unsigned threads,
                                      const std::string& declarations = {}) {
  PtxRunner r({kernel_k(body + "\n st.global.u32 [%rd2], %r9;", declarations)});
  auto* out = r.make<std::uint32_t>(threads);
  const Outcome o = r.run("k", {}, {threads, 1, 1}, {reinterpret_cast<std::uint64_t>(out)});
  EXPECT_TRUE(o.ok()) << o.report;
  return {out, out + threads};
}

const std::string shared_words = ".shared .align 4 .b8 s[4096];";
const std::string my_word = "mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r3;\n";

TEST(Barrier, ExchangesThroughSharedMemory) {
  const auto got = threads_of(my_word + R"(
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  xor.b32 %r5, %r4, 2048;
  mov.u32 %r6, %ntid.x; sub.u32 %r6, %r6, 1; sub.u32 %r6, %r6, %r1;
  shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3;
  ld.shared.u32 %r9, [%r6];)",
                              1000, shared_words);
  for (std::uint32_t t = 0; t < 1000; ++t) ASSERT_EQ(got[t], 999 - t);
}

TEST(Barrier, ManyPhasesInALoop) {
  const auto got = threads_of(my_word + R"(
  mov.u32 %r7, 0; mov.u32 %r8, %r1;
LOOP:
  st.shared.u32 [%r4], %r8;
  barrier.cta.sync.aligned 0;
  add.u32 %r5, %r1, 1; and.b32 %r5, %r5, 127; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r3;
  ld.shared.u32 %r8, [%r5];
  barrier.sync 0;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p1, %r7, 50;
  @%p1 bra LOOP;
  mov.u32 %r9, %r8;)",
                              128, shared_words);
  for (std::uint32_t t = 0; t < 128; ++t) ASSERT_EQ(got[t], (t + 50) % 128);
}

// Warps 2 and 3 produce for warps 0 and 1. Only these wait.
TEST(Barrier, ProducersArriveAndDoNotWait) {
  const auto got = threads_of(my_word + R"(
  mov.u32 %r9, 0;
  setp.lt.u32 %p1, %r1, 64;
  @%p1 bra CONSUME;
  add.u32 %r5, %r1, 1000;
  st.shared.u32 [%r4], %r5;
  bar.arrive 3, 128;
  bra END;
CONSUME:
  bar.sync 3, 128;
  ld.shared.u32 %r9, [%r4+256];
END:)",
                              128, shared_words);
  for (std::uint32_t t = 0; t < 128; ++t) ASSERT_EQ(got[t], t < 64 ? t + 64 + 1000 : 0u);
}

TEST(Barrier, HalvesOfABlockMeetAtTheirOwn) {
  const auto got = threads_of(my_word + R"(
  shr.u32 %r5, %r1, 6;          // 0 or 1
  add.u32 %r6, %r5, 1; mov.u32 %r7, 64;
  mov.u32 %r8, 0; mov.u32 %r9, 0;
LOOP:
  bar.red.popc.u32 %r10, %r6, %r7, 1;
  add.u32 %r9, %r9, %r10;
  add.u32 %r8, %r8, 1;
  setp.le.u32 %p1, %r8, %r5;    // the second half goes round twice
  @%p1 bra LOOP;)",
                              128, shared_words);
  for (std::uint32_t t = 0; t < 128; ++t) ASSERT_EQ(got[t], t < 64 ? 64u : 128u);
}

TEST(Barrier, Reductions) {
  const auto got = threads_of(R"(
  setp.lt.u32 %p1, %r1, 70;
  setp.lt.u32 %p2, %r1, 1000;
  bar.red.popc.u32 %r2, 0, %p1;
  bar.red.and.pred %p3, 0, %p1;
  bar.red.or.pred %p4, 0, %p1;
  bar.red.and.pred %p5, 1, %p2;
  barrier.cta.red.or.aligned.pred %p6, 1, !%p2;
  barrier.red.popc.u32 %r3, 2, 96, !%p1;
  selp.u32 %r4, 1000, 0, %p3; selp.u32 %r5, 2000, 0, %p4; selp.u32 %r6, 4000, 0, %p5;
  selp.u32 %r7, 8000, 0, %p6;
  add.u32 %r9, %r2, %r4; add.u32 %r9, %r9, %r5; add.u32 %r9, %r9, %r6; add.u32 %r9, %r9, %r7;
  mad.lo.u32 %r9, %r3, 100000, %r9;)",
                              96);
  for (auto v : got) ASSERT_EQ(v, 70u + 2000 + 4000 + 26 * 100000);
}

// The last warp has 16 threads. Counts are in whole warps.
TEST(Barrier, APartialWarpCountsWhole) {
  const auto got = threads_of(R"(
  bar.red.popc.u32 %r9, 1, 64, 1;
  bar.sync 2, 64;)",
                              48);
  for (auto v : got) ASSERT_EQ(v, 48u);
}

TEST(Barrier, ThreadsOfAWarpThatPartArriveOneByOne) {
  const auto got = threads_of(my_word + R"(
  and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
  st.shared.u32 [%r4], %r1;
  @%p1 bra EVEN;
  barrier.sync 0;
  bra READ;
EVEN:
  nanosleep.u32 10;
  barrier.sync 0;
  bra READ;
READ:
  xor.b32 %r5, %r1, 33; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r3;
  ld.shared.u32 %r9, [%r5];)",
                              64, shared_words);
  for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(got[t], t ^ 33);
}

TEST(Barrier, WaitsOnlyForThreadsThatLive) {
  const auto got = threads_of(R"(
  mov.u32 %r9, 5;
  st.global.u32 [%rd2], %r9;
  setp.ge.u32 %p1, %r1, 40;
  @%p1 exit;
  bar.sync 0;
  bar.red.popc.u32 %r9, 0, 1;)",
                              128);
  for (std::uint32_t t = 0; t < 128; ++t) ASSERT_EQ(got[t], t < 40 ? 40u : 5u);
}

TEST(Barrier, LateExitsReleaseWhoWaits) {
  const auto got = threads_of(R"(
  setp.lt.u32 %p1, %r1, 32;
  mov.u32 %r9, 1;
  @%p1 bra WAIT;
  mov.u32 %r5, 0;
SPIN:
  add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 20000; @%p2 bra SPIN;
  st.global.u32 [%rd2], %r9;
  exit;
WAIT:
  bar.sync 0;
  mov.u32 %r9, 2;)",
                              64);
  for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(got[t], t < 32 ? 2u : 1u);
}

// Warps reuse a barrier before all waiters of its last phase have read their result.
TEST(Barrier, AResultIsNotOverwrittenByTheNextPhase) {
  const auto got = threads_of(R"(
  shr.u32 %r2, %r1, 5;                 // warp
  mov.u32 %r9, 0; mov.u32 %r8, 0;
  setp.lt.u32 %p3, %r1, 1;
LOOP:
  bar.red.popc.u32 %r5, 0, %p3;
  add.u32 %r9, %r9, %r5;
  not.pred %p3, %p3;
  add.u32 %r8, %r8, 1;
  setp.lt.u32 %p1, %r8, 9;
  @%p1 bra LOOP;)",
                              256);
  for (auto v : got) ASSERT_EQ(v, 5 * 1 + 4 * 255u);
}

TEST(Barrier, MisuseIsNamed) {
  struct Case {
    const char *body, *words;
    FaultKind kind;
  };
  for (const Case& c :
       {Case{"mov.u32 %r2, 16; bar.sync %r2;", "uses barrier 16", FaultKind::illegal_instruction},
        {"setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1, 96; bra B; A: bar.sync 1, 128; B:",
         "arrives at barrier 1 with count", FaultKind::illegal_instruction},
        {"setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1; bra B; A: bar.sync 2; B:",
         "deadlock in kernel k", FaultKind::deadlock}}) {
    PtxRunner r({kernel_k(c.body)});
    const Outcome o = r.run("k", {}, {192, 1, 1}, {0});
    EXPECT_EQ(o.kind, c.kind) << o.report;
    EXPECT_NE(o.report.find(c.words), o.report.npos) << o.report;
  }
}

TEST(Barrier, ADeadlockListsWhoWaitsForWhat) {
  PtxRunner r({kernel_k(R"(
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra A;
  bar.sync 1;
  bra B;
A:
  bar.sync 2, 64;
B:)")});
  const Outcome o = r.run("k", {2, 1, 1}, {192, 1, 1}, {0});
  EXPECT_NE(
      o.report.find("160 threads (warp 1, 2, 3, 4, 5; lanes 0-31) wait for barrier 1, at which "
                    "160 of 192 threads have arrived"),
      o.report.npos)
      << o.report;
  EXPECT_NE(o.report.find("barrier 2, at which 32 of 64"), o.report.npos) << o.report;
  EXPECT_NE(o.report.find("bar.sync 2, 64;"), o.report.npos) << o.report;
}

}  // namespace
}  // namespace inflight::machine
