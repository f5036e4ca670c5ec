// Instructions around asynchronous copies that change no data themselves: fences of every proxy,
// cache policies and hints, register counts, dependent launches, mbarriers at cluster scope.
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

Outcome outcome_of(const std::string& body, std::vector<std::uint64_t>* out = nullptr) {
  PtxRunner r({kernel_k(body, ".shared .align 64 .b8 s[256];")});
  auto* words = r.make<std::uint64_t>(64);
  const Outcome o = r.run("k", {}, {32, 1, 1}, {reinterpret_cast<std::uint64_t>(words)});
  if (out) out->assign(words, words + 64);
  return o;
}
void expect_runs(const std::string& instruction) {
  const Outcome o = outcome_of(instruction);
  EXPECT_TRUE(o.ok()) << instruction << "\n" << o.report;
}
void expect_refused(const std::string& instruction, const std::string& word) {
  const Outcome o = outcome_of(instruction);
  EXPECT_EQ(o.kind, FaultKind::refused) << instruction;
  EXPECT_NE(o.report.find(word), o.report.npos) << o.report;
}

TEST(Fences, EveryFormRuns) {
  for (const std::string scope : {".cta", ".cluster", ".gpu", ".sys"}) {
    for (const char* order :
         {"fence", "fence.sc", "fence.acq_rel", "fence.acquire", "fence.release"})
      expect_runs(order + scope + ";");
    expect_runs("fence.proxy.tensormap::generic.release" + scope + ";");
    expect_runs("fence.proxy.tensormap::generic.acquire" + scope + " [%rd1], 128;");
    expect_runs("fence.proxy.tensormap::generic.acquire" + scope + " [%rd1+128], 128;");
  }
  for (const char* text :
       {"membar.cta;", "membar.gl;", "membar.sys;", "membar.proxy.alias;", "fence.proxy.alias;",
        "fence.proxy.async;", "fence.proxy.async.global;", "fence.proxy.async.shared::cta;",
        "fence.proxy.async.shared::cluster;", "fence.mbarrier_init.release.cluster;",
        "fence.acquire.sync_restrict::shared::cluster.cluster;",
        "fence.release.sync_restrict::shared::cta.cluster;",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;"})
    expect_runs(text);
}

TEST(Fences, FormsThatAreNoneAreRefused) {
  for (const char* text : {"fence.proxy.tensormap::generic.acquire.gpu;",
                           "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 64;",
                           "fence.proxy.tensormap::generic.release.gpu [%rd1], 128;",
                           "fence.proxy.tensormap::generic.release;", "fence.proxy.async.local;",
                           "fence.proxy.alias.global;", "fence.proxy.global;",
                           "fence.acquire.sync_restrict::shared::cta.cluster;",
                           "fence.release.sync_restrict::shared::cta.gpu;",
                           "fence.proxy.async::generic.acquire.cluster;"})
    expect_refused(text, "fence");
}

TEST(CachePolicies, AreValuesThatAccessesTake) {
  std::vector<std::uint64_t> out;
  const Outcome o = outcome_of(R"(
  createpolicy.fractional.L2::evict_last.b64 %rd4, 0.5;
  createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd5;
  createpolicy.fractional.L2::evict_unchanged.b64 %rd6, 1.0;
  createpolicy.fractional.L2::evict_normal.L2::evict_first.b64 %rd7, 0f3F000000;
  mov.u32 %r5, 0x1000; mov.u32 %r6, 0x2000;
  createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd8, [%rd1], %r5, %r6;
  createpolicy.range.L2::evict_first.b64 %rd9, [%rd1], 128, 256;
  createpolicy.cvt.L2.b64 %rd10, 0x12f0000000000000;
  setp.ne.u32 %p1, %r1, 0; @%p1 exit;
  st.global.L2::cache_hint.b64 [%rd1], 7, %rd4;
  ld.global.L2::cache_hint.b64 %rd11, [%rd1], %rd9;
  st.global.b64 [%rd1+8], %rd11;
  st.global.v2.b64 [%rd1+16], {%rd4, %rd5};)",
                               &out);
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(out[1], 7u);
  EXPECT_NE(out[2], 0u);
  EXPECT_NE(out[2], out[3]);
}

TEST(CacheHints, MayNameATensorMapOrALine) {
  for (const char* text :
       {"prefetch.tensormap [%rd1];", "prefetch.global.L2 [%rd1];",
        "prefetch.global.L2::evict_last [%rd1];", "prefetchu.L1 [%rd1];",
        "prefetch.param.tensormap [out];", "applypriority.global.L2::evict_normal [%rd1], 128;",
        "discard.global.L2 [%rd1], 128;", "discard.L2 [%rd1], 128;"})
    expect_runs(text);
  expect_refused("discard.global.L2 [%rd1], 64;", "128");
  expect_refused("applypriority.global.L2::evict_normal [%rd1], %r1;", "128");
}

// The assembler leaves them out if it does not know the initial number of registers.
TEST(RegisterCounts, AreLeftOutWhereNobodyKnowsThem) {
  expect_runs("setmaxnreg.inc.sync.aligned.u32 240; setmaxnreg.dec.sync.aligned.u32 24;");
}

TEST(DependentLaunches, HaveEndedWhenAKernelBegins) {
  expect_runs("griddepcontrol.launch_dependents; griddepcontrol.wait;");
  expect_runs("setp.lt.u32 %p1, %r1, 5; @%p1 griddepcontrol.wait; @!%p1 griddepcontrol.wait;");
}

TEST(Elect, BothDestinationsOrOne) {
  std::vector<std::uint64_t> out;
  const Outcome o = outcome_of(R"(
  setp.lt.u32 %p4, %r1, 8; @%p4 bra LOW;
  elect.sync %r5|%p1, 0xffffff00;
  bra END;
LOW:
  elect.sync _|%p1, 0x000000ff; mov.u32 %r5, 77;
END:
  mul.wide.u32 %rd3, %r1, 8; add.u64 %rd3, %rd3, %rd1;
  selp.u32 %r6, 1000, 0, %p1; add.u32 %r6, %r6, %r5; cvt.u64.u32 %rd4, %r6;
  st.global.u64 [%rd3], %rd4;)",
                               &out);
  ASSERT_TRUE(o.ok()) << o.report;
  for (unsigned l = 0; l < 32; ++l)
    EXPECT_EQ(out[l], (l < 8 ? 77u : 8u) + (l == 0 || l == 8 ? 1000 : 0)) << l;
}

// Every form of scope, space and order of waits and arrivals, through two phases.
TEST(MbarriersAtClusterScope, ArriveAndWait) {
  for (const std::string scope : {"", ".release.cta", ".release.cluster", ".relaxed.cluster"}) {
    const std::string wait = scope.find("relaxed") != scope.npos ? scope
                             : scope.empty()                     ? ""
                                                                 : ".acquire" + scope.substr(8);
    for (const std::string space : {".shared", ".shared::cta"}) {
      const std::string text = R"(
  mov.u32 %r3, s;
  setp.ne.u32 %p1, %r1, 0;
  @!%p1 mbarrier.init.shared::cta.b64 [%r3], 32;
  fence.mbarrier_init.release.cluster;
  bar.warp.sync -1;
  mbarrier.arrive)" + scope + space +
                               R"(.b64 %rd4, [%r3];
FIRST:
  mbarrier.try_wait)" + wait + space +
                               R"(.b64 %p2, [%r3], %rd4;
  @!%p2 bra FIRST;
  @!%p1 mbarrier.expect_tx.relaxed.cluster)" +
                               space + R"(.b64 [%r3], 64;
  @!%p1 mbarrier.complete_tx.relaxed.cluster)" +
                               space + R"(.b64 [%r3], 64;
  mapa.shared::cluster.u32 %r4, %r3, 0;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
SECOND:
  mbarrier.try_wait.parity)" + wait +
                               space + R"(.b64 %p2, [%r3], 1, 1000;
  @!%p2 bra SECOND;
  mbarrier.test_wait.parity)" + wait +
                               space + R"(.b64 %p3, [%r3], 1;
  selp.u32 %r9, 1, 0, %p3;
  mul.wide.u32 %rd3, %r1, 8; add.u64 %rd3, %rd3, %rd1; cvt.u64.u32 %rd4, %r9;
  st.global.u64 [%rd3], %rd4;)";
      std::vector<std::uint64_t> out;
      const Outcome o = outcome_of(text, &out);
      ASSERT_TRUE(o.ok()) << o.report;
      for (unsigned l = 0; l < 32; ++l) ASSERT_EQ(out[l], 1u);
    }
  }
}

TEST(MbarriersAtClusterScope, ATimeLimitEndsTheWait) {
  std::vector<std::uint64_t> out;
  const Outcome o = outcome_of(R"(
  mov.u32 %r3, s; mov.u32 %r5, 200;
  setp.ne.u32 %p1, %r1, 0; @%p1 exit;
  mbarrier.init.shared.b64 [%r3], 2;
  mbarrier.arrive.expect_tx.release.cluster.shared::cta.b64 %rd4, [%r3], 16;
  mbarrier.try_wait.acquire.cluster.shared::cta.b64 %p2, [%r3], %rd4, %r5;
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r3], 0, 0x989680;
  selp.u32 %r9, 1, 2, %p2; @%p3 add.u32 %r9, %r9, 10; cvt.u64.u32 %rd4, %r9;
  st.global.u64 [%rd1], %rd4;)",
                               &out);
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(out[0], 2u);
}

// Forms of later targets, and what is not supported, are refused by name before the kernel runs.
TEST(Refusals, NameTheInstruction) {
  for (const std::string text :
       {"mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e2m1.f32 {%r2,%r3,%r4,%r5}, "
        "{%r2,%r3,%r4,%r5}, {%r2,%r3}, {%r2,%r3,%r4,%r5}",
        "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
        "[%r2], [%r3]",
        "tcgen05.wait::ld.sync.aligned"}) {
    const std::string name = text.substr(0, text.find(' '));
    expect_refused(text + ";", name);
  }
}

}  // namespace
}  // namespace inflight::machine
