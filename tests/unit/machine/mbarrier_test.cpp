// mbarriers on the machine: phases, tokens, parities, waits that park, and asynchronous arrivals.
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "gpu/check/listener.hpp"
#include "tests/unit/machine/kernel_runner.hpp"

namespace inflight::machine {
namespace {

class Mbarriers : public KernelRunner {
 protected:
  // `bar` is an mbarrier for `count` arrivals, at %bar. %out is 8 bytes per thread, %r0 the thread.
  Outcome run_block(std::uint32_t threads, const std::string& count, const std::string& act,
                    async::Timing timing = async::late) {
    options.timing = timing;
    const Program* program = link(entry(2, R"(
  .shared .align 8 .b64 bar[4];
  .shared .align 16 .b8 room[8192];
  .reg .b64 %src, %out, %state, %rd<8>; .reg .b32 %bar, %dst, %r<8>; .reg .pred %p, %q;
  mov.u32 %r0, %tid.x;
  mov.u32 %bar, bar;
  mov.u32 %dst, room;
  ld.param.u64 %out, [p0];
  mul.wide.u32 %rd0, %r0, 8;
  add.u64 %out, %out, %rd0;
  ld.param.u64 %src, [p1];
  setp.eq.u32 %p, %r0, 0;
  @%p mbarrier.init.shared::cta.b64 [%bar], )" +
                                               count + R"(;
  bar.sync 0;
)" + act + R"(
  ret;)"));
    out = upload(std::vector<std::uint64_t>(threads));
    std::vector<std::uint32_t> words(2048);
    std::iota(words.begin(), words.end(), 1);
    return run(program, {{1, 1, 1}, {threads, 1, 1}}, {out, upload(words)});
  }
  std::vector<std::uint64_t> result(std::size_t n) { return download<std::uint64_t>(out, n); }
  std::uint64_t out = 0;
};

TEST_F(Mbarriers, HoldBackUntilAllHaveArrived) {
  // Threads write, arrive and wait; then each reads its neighbour's value.
  for (const char* wait : {"mbarrier.try_wait.shared::cta.b64 %q, [%bar], %state;",
                           "mbarrier.test_wait.shared.b64 %q, [%bar], %state;",
                           "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %q, [%bar], 0;",
                           "mbarrier.try_wait.parity.shared.b64 %q, [%bar], 0, 1000;"}) {
    const Outcome o = run_block(128, "128", std::string(R"(
  shl.b32 %r1, %r0, 2;
  add.u32 %r1, %dst, %r1;
  st.shared.u32 [%r1], %r0;
  mbarrier.arrive.shared.b64 %state, [%bar];
WAIT:
)") + wait + R"(
  @!%q bra WAIT;
  xor.b32 %r2, %r0, 127;
  shl.b32 %r2, %r2, 2;
  add.u32 %r2, %dst, %r2;
  ld.shared.u32 %rd1, [%r2];
  st.global.u64 [%out], %rd1;)");
    ASSERT_TRUE(o.ok()) << o.report;
    for (std::uint64_t t = 0; t < 128; ++t) EXPECT_EQ(result(128)[t], t ^ 127) << wait;
  }
}

TEST_F(Mbarriers, TellPendingCounts) {
  const Outcome o = run_block(1, "5", R"(
  mbarrier.arrive.noComplete.shared.b64 %state, [%bar], 2;
  mbarrier.pending_count.b64 %r1, %state;
  mbarrier.arrive.shared.b64 %rd1, [%bar];
  mbarrier.pending_count.b64 %r2, %rd1;
  shl.b32 %r2, %r2, 8;
  or.b32 %r1, %r1, %r2;
  mbarrier.test_wait.parity.shared.b64 %q, [%bar], 0;
  selp.b32 %r3, 65536, 0, %q;
  or.b32 %r1, %r1, %r3;
  mbarrier.arrive.shared.b64 _, [%bar], 2;
  mbarrier.test_wait.parity.shared.b64 %q, [%bar], 0;
  selp.b32 %r3, 131072, 0, %q;
  or.b32 %r1, %r1, %r3;
  cvt.u64.u32 %rd2, %r1;
  st.global.u64 [%out], %rd2;
  mbarrier.inval.shared.b64 [%bar];)");
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(result(1)[0], 5u | 3u << 8 | 131072u);
}

// Lanes of a warp arrive one after the other, wherever that completes a phase.
TEST_F(Mbarriers, GiveEachLaneItsToken) {
  for (const unsigned pending : {96u, 90u, 33u, 1000u}) {
    const Outcome o = run_block(32, std::to_string(pending), R"(
  mbarrier.arrive.shared.b64 %state, [%bar], 3;
  mbarrier.pending_count.b64 %r1, %state;
  cvt.u64.u32 %rd2, %r1;
  st.global.u64 [%out], %rd2;)");
    ASSERT_TRUE(o.ok()) << o.report;
    unsigned left = pending;
    for (const std::uint64_t before : result(32)) {
      EXPECT_EQ(before, left);
      left = left == 3 ? pending : left - 3;
    }
  }
}

TEST_F(Mbarriers, CountTransactions) {
  const Outcome o = run_block(1, "1", R"(
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 64;
  mbarrier.test_wait.parity.shared.b64 %q, [%bar], 0;
  selp.b32 %r1, 1, 0, %q;
  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 16;
  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], 64;
  mbarrier.test_wait.parity.shared.b64 %q, [%bar], 0;
  selp.b32 %r2, 2, 0, %q;
  or.b32 %r1, %r1, %r2;
  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], 16;
  mbarrier.test_wait.parity.shared.b64 %q, [%bar], 0;
  selp.b32 %r2, 4, 0, %q;
  or.b32 %r1, %r1, %r2;
  cvt.u64.u32 %rd2, %r1;
  st.global.u64 [%out], %rd2;)");
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(result(1)[0], 4u);
}

TEST_F(Mbarriers, ForgetThoseWhoDropOut) {
  const Outcome o = run_block(64, "64", R"(
  setp.lt.u32 %p, %r0, 40;
  @%p bra DROP;
  mov.u32 %r3, 0;
AGAIN:
  mbarrier.arrive.shared.b64 %state, [%bar];
WAIT:
  mbarrier.try_wait.shared.b64 %q, [%bar], %state;
  @!%q bra WAIT;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %q, %r3, 5;
  @%q bra AGAIN;
  cvt.u64.u32 %rd2, %r3;
  st.global.u64 [%out], %rd2;
  ret;
DROP:
  mbarrier.arrive_drop.shared.b64 _, [%bar];)");
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(result(64)[50], 5u);
}

TEST_F(Mbarriers, WaitForAsynchronousArrivals) {
  // Warp 0 copies and arrives. Warp 1 waits and reads. Tested in both orders of time.
  for (const char* noinc : {".noinc", ""})
    for (const async::Timing timing : {async::late, async::early, async::shuffled(0)})
      for (const char* first : {"lt", "ge"}) {
        const std::string count = noinc[0] ? "32" : "1";
        const std::string own = noinc[0] ? "" : R"(
  @%p mbarrier.arrive.shared.b64 _, [%bar];)";
        const Outcome o = run_block(64, count, std::string("  setp.") + first + R"(.u32 %q, %r0, 32;
  and.b32 %r1, %r0, 31;
  shl.b32 %r2, %r1, 2;
  add.u32 %r2, %dst, %r2;
  @!%q bra READ;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd1, %src, %rd1;
  cp.async.ca.shared.global [%r2], [%rd1], 4;
  cp.async.mbarrier.arrive)" + noinc + R"(.shared::cta.b64 [%bar];
  setp.eq.u32 %p, %r1, 0;)" + own + R"(
  ret;
READ:
  mbarrier.try_wait.parity.shared.b64 %q, [%bar], 0;
  @!%q bra READ;
  ld.shared.u32 %rd2, [%r2];
  st.global.u64 [%out], %rd2;)",
                                    timing);
        ASSERT_TRUE(o.ok()) << o.report;
        const std::size_t reader = std::string_view(first) == "lt" ? 32 : 0;
        for (std::uint32_t t = 0; t < 32; ++t)
          EXPECT_EQ(result(64)[reader + t], t + 1) << noinc << " " << first;
      }
}

// A program must use a test's answer. In the order `late` the test makes the copy complete; in a
// shuffled one it returns false at times, and true in the end.
TEST_F(Mbarriers, MayTestFalseInShuffledOrders) {
  const auto failed_tests = [&](async::Timing timing) {
    const Outcome o = run_block(32, "32", R"(
  shl.b32 %r2, %r0, 2;
  add.u32 %r2, %dst, %r2;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd1, %src, %rd1;
  cp.async.ca.shared.global [%r2], [%rd1], 4;
  cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%bar];
  mov.u64 %rd2, 0;
TEST:
  mbarrier.test_wait.parity.shared.b64 %q, [%bar], 0;
  @%q bra DONE;
  add.u64 %rd2, %rd2, 1;
  bra TEST;
DONE:
  st.global.u64 [%out], %rd2;)",
                                timing);
    EXPECT_TRUE(o.ok()) << o.report;
    return result(32)[0];
  };
  EXPECT_EQ(failed_tests(async::late), 0u);
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) failed += failed_tests(async::shuffled(seed));
  EXPECT_GT(failed, 0u);
}

TEST_F(Mbarriers, ReachThroughGenericAddresses) {
  const Outcome o = run_block(32, "32", R"(
  cvt.u64.u32 %rd1, %bar;
  cvta.shared.u64 %rd1, %rd1;
  mbarrier.arrive.release.cta.b64 %state, [%rd1];
WAIT:
  mbarrier.try_wait.acquire.cta.b64 %q, [%rd1], %state;
  @!%q bra WAIT;
  st.global.u64 [%out], 1;)");
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(result(32), std::vector<std::uint64_t>(32, 1));
}

class Recorder : public check::Listener {
 public:
  void mbarrier(const check::MbarrierOp& event) override {
    const auto threads = static_cast<unsigned>(std::popcount(event.who.mask));
    operations[event.op] += threads;
    if (event.done) done[event.op] += threads;
    addresses.insert(event.address);
    last = event;
  }
  void copy_issued(const check::CopyIssued& event) override {
    copies += static_cast<unsigned>(std::popcount(event.who.mask));
  }
  std::map<check::MbarrierOp::Op, unsigned> operations, done;
  std::set<std::uint32_t> addresses;
  unsigned copies = 0;
  check::MbarrierOp last;
};

TEST_F(Mbarriers, AreToldToListeners) {
  using Op = check::MbarrierOp::Op;
  Recorder recorder;
  options.listener = &recorder;
  options.workers = 1;
  const Outcome o = run_block(32, "64", R"(
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd1, %src, %rd1;
  shl.b32 %r2, %r0, 2;
  add.u32 %r2, %dst, %r2;
  cp.async.ca.shared.global [%r2], [%rd1], 4;
  cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%bar];
  mbarrier.arrive.release.cta.shared::cta.b64 _, [%bar];
READ:
  mbarrier.try_wait.parity.shared.b64 %q, [%bar], 0;
  @!%q bra READ;
  bar.sync 0;
  @%p mbarrier.inval.shared.b64 [%bar];)");
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(recorder.operations, (std::map<Op, unsigned>{{Op::init, 1},
                                                         {Op::inval, 1},
                                                         {Op::arrive, 32},
                                                         {Op::try_wait, 32},
                                                         {Op::async_arrive, 32},
                                                         {Op::async_arrive_issued, 32}}));
  EXPECT_EQ(recorder.done, (std::map<Op, unsigned>{{Op::try_wait, 32}, {Op::async_arrive, 1}}));
  EXPECT_EQ(recorder.copies, 32u);
  EXPECT_EQ(recorder.addresses.size(), 1u);
  EXPECT_EQ(recorder.last.violation, async::Violation::none);
}

// Under a listener a test of a complete phase fails up to 4,096 times where the thread may go on
// without it. A test that was repeated so often succeeds at once in later launches of its module.
TEST_F(Mbarriers, FailSpuriouslyInEachModule) {
  Recorder recorder;
  options.listener = &recorder;
  options.workers = 1;
  const auto first_launch = [&] {
    const Outcome o = run_block(32, "32", R"(
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd1, %src, %rd1;
  shl.b32 %r2, %r0, 2;
  add.u32 %r2, %dst, %r2;
  cp.async.ca.shared.global [%r2], [%rd1], 4;
  cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%bar];
  mov.u32 %r1, 0;
WAIT:
  mbarrier.test_wait.parity.shared.b64 %q, [%bar], 0;
  @%q bra DONE;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %q, %r1, 10000;
  @%q bra WAIT;
DONE:
  cvt.u64.u32 %rd1, %r1;
  st.global.u64 [%out], %rd1;)");
    EXPECT_TRUE(o.ok()) << o.report;
    return result(32)[0];
  };
  const auto later_launch = [&] {
    const std::uint64_t source = upload(std::vector<std::uint32_t>(32));
    const Outcome o = run(programs.back().get(), {{1, 1, 1}, {32, 1, 1}}, {out, source});
    EXPECT_TRUE(o.ok()) << o.report;
    return result(32)[0];
  };
  for (int module = 0; module < 3; ++module) {
    programs.clear();  // the next one may have its addresses
    EXPECT_EQ(first_launch(), 4096u);
    EXPECT_EQ(later_launch(), 0u);
  }
}

TEST_F(Mbarriers, TellTheRuleThatWasBroken) {
  Recorder recorder;
  options.listener = &recorder;
  const Outcome o = run_block(1, "1", R"(
  mov.u64 %rd1, 0;
  st.shared.u64 [%bar], %rd1;
  mbarrier.arrive.shared.b64 _, [%bar];)");
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(recorder.last.violation, async::Violation::not_initialised);
}

TEST_F(Mbarriers, LetAProgramsOwnTimeOutWork) {
  const Outcome o = run_block(32, "33", R"(
  mbarrier.arrive.shared.b64 %state, [%bar];
  mov.u32 %r1, 0;
WAIT:
  mbarrier.try_wait.shared.b64 %q, [%bar], %state;
  @%q bra DONE;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %q, %r1, 10;
  @%q bra WAIT;
DONE:
  cvt.u64.u32 %rd1, %r1;
  st.global.u64 [%out], %rd1;)");
  ASSERT_TRUE(o.ok()) << o.report;
  EXPECT_EQ(result(32), std::vector<std::uint64_t>(32, 10));
}

TEST_F(Mbarriers, EndInDeadlockWhenNobodyCanArrive) {
  const Outcome o = run_block(32, "33", R"(
  mbarrier.arrive.shared.b64 %state, [%bar];
WAIT:
  mbarrier.try_wait.shared.b64 %q, [%bar], %state;
  @!%q bra WAIT;)");
  EXPECT_EQ(o.kind, FaultKind::deadlock) << o.report;
  EXPECT_NE(o.report.find("mbarrier"), std::string::npos) << o.report;
}

TEST_F(Mbarriers, FaultOutsideSharedMemory) {
  EXPECT_EQ(run_block(1, "1", "mbarrier.arrive.b64 _, [%out];").kind,
            FaultKind::invalid_address_space);
  EXPECT_EQ(run_block(1, "1", "mbarrier.arrive.shared.b64 _, [%bar+4];").kind,
            FaultKind::misaligned_address);
  EXPECT_EQ(run_block(1, "1", "mbarrier.arrive.shared.b64 _, [%bar+65536];").kind,
            FaultKind::illegal_address);
  EXPECT_EQ(
      run_block(1, "1", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%bar];").kind,
      FaultKind::none);
  EXPECT_EQ(
      run_block(1, "1", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%bar+65536];")
          .kind,
      FaultKind::illegal_address);
}

}  // namespace
}  // namespace inflight::machine
