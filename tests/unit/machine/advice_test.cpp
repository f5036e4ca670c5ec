// Messages about copies that broke a rule after their issue: one per place.
#include "tests/unit/machine/ptx_runner.hpp"

namespace inflight::machine {
namespace {

const std::string shared = ".shared .align 16 .b8 tile[1024];\n.shared .align 8 .b64 bar;\n";
const std::string copy =
    "mul.lo.u32 %r5, %r1, 16; mov.u32 %r6, tile; add.u32 %r6, %r6, %r5;\n"
    "mul.wide.u32 %rd5, %r1, 16; add.s64 %rd6, %rd1, %rd5;\n"
    "cp.async.cg.shared.global [%r6], [%rd6], 16;\n";
const std::string change = "st.global.u32 [%rd6+12], %r7;\n";
const std::string wait = "cp.async.wait_all;\n";

struct Advised {
  Outcome outcome;
  std::vector<std::string> lines;
};

Advised run(const std::string& body, async::Timing timing = async::late, unsigned threads = 32) {
  PtxRunner r({kernel_k("mov.u32 %r7, 77; mov.u32 %r8, 0;\n" + body, shared)});
  Advised advised;
  std::vector<std::string> keys;
  r.options.timing = timing;
  r.options.advise = [&](const std::string& key, const std::string& sentence) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) advised.lines.push_back(sentence);
    keys.push_back(key);
  };
  auto* data = r.make<std::uint32_t>(4096);
  advised.outcome = r.run("k", {4, 1, 1}, {threads, 1, 1}, {reinterpret_cast<std::uint64_t>(data)});
  EXPECT_TRUE(advised.outcome.ok()) << advised.outcome.report;
  EXPECT_LE(keys.size(), advised.lines.size()) << "a launch says the same twice";
  return advised;
}

void expect_line(const Advised& advised, std::initializer_list<std::string> parts) {
  ASSERT_EQ(advised.lines.size(), 1u);
  for (const std::string& part : parts)
    EXPECT_NE(advised.lines[0].find(part), std::string::npos) << advised.lines[0];
  EXPECT_EQ(advised.lines[0].find('\n'), std::string::npos) << advised.lines[0];
}

TEST(Advice, ASourceWrittenBeforeTheWaitIsSaidOncePerPlace) {
  expect_line(run(copy + change + wait), {"kernel k", "cp.async.cg.shared.global", "was written"});
  expect_line(run("AGAIN: " + copy + change + wait +
                  "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 90; @%p1 bra AGAIN;\n"),
              {"kernel k"});
  EXPECT_EQ(run(copy + change + wait + copy + "mov.u32 %r7, 5;\n" + change + wait).lines.size(),
            2u);
}

TEST(Advice, AtomicsWriteSourcesToo) {
  expect_line(run(copy + "red.global.add.u32 [%rd6], 1;\n" + wait), {"was written"});
  expect_line(run(copy + "cvta.to.global.u64 %rd7, %rd6; st.u32 [%rd6], %r7;\n" + wait),
              {"was written"});
}

TEST(Advice, NothingIsSaidOfSourcesThatAreReadInTime) {
  EXPECT_TRUE(run(copy + wait + change).lines.empty());
  EXPECT_TRUE(run(copy + change + wait, async::early).lines.empty());
  EXPECT_TRUE(run(copy + "st.global.u32 [%rd1+8192], %r7;\n" + wait).lines.empty());
}

const std::string bulk_store =
    "mov.u32 %r6, tile; setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;\n"
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r6], 256;\n"
    "cp.async.bulk.commit_group;\n";

TEST(Advice, SharedSourcesOfBulkStores) {
  expect_line(run(bulk_store + "st.shared.u32 [tile+252], %r7;\ncp.async.bulk.wait_group.read 0;\n"
                               "DONE:"),
              {"cp.async.bulk.global", "was written"});
  EXPECT_TRUE(run(bulk_store + "cp.async.bulk.wait_group.read 0;\nst.shared.u32 [tile], %r7;\n"
                               "DONE:")
                  .lines.empty());
  EXPECT_TRUE(
      run(bulk_store + "st.shared.u32 [tile+256], %r7;\ncp.async.bulk.wait_group.read 0;\nDONE:")
          .lines.empty());
}

TEST(Advice, ArrivalsOnWhatIsNoMbarrier) {
  expect_line(
      run("setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;\nmov.u32 %r6, tile; mov.u32 %r9, bar;\n"
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%rd1], "
          "64, [%r9];\nDONE:"),
      {"kernel k", "cp.async.bulk", "are not an mbarrier"});
  expect_line(run("mov.u32 %r9, bar;\n" + copy +
                  "cp.async.mbarrier.arrive.noinc.shared.b64 [%r9];\n" + wait),
              {"kernel k", "cp.async.mbarrier.arrive", "are not an mbarrier"});
}

const std::string one_thread =
    "setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;\nmov.u32 %r9, bar; mov.u64 %rd9, 0;\n";
const std::string init = "mbarrier.init.shared.b64 [%r9], 1;\n";

TEST(Advice, OperationsThatBreakARuleOfMbarriersHaveNoEffect) {
  const std::string effect = "breaks a rule and has no effect";
  expect_line(run(one_thread + "mbarrier.arrive.shared.b64 _, [%r9];\nDONE:"),
              {"kernel k", "mbarrier.arrive.shared.b64", effect, "are not an mbarrier"});
  expect_line(run(one_thread + "mbarrier.init.shared.b64 [%r9], 0;\nDONE:"),
              {"mbarrier.init", effect, "initial count"});
  expect_line(run(one_thread + "mbarrier.inval.shared.b64 [%r9];\nDONE:"),
              {"mbarrier.inval", effect, "are not an mbarrier"});
  expect_line(run(one_thread + init + "mbarrier.arrive.shared.b64 _, [%r9], 2;\nDONE:"),
              {"mbarrier.arrive", effect, "more arrivals"});
  expect_line(run(one_thread + init +
                  "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 1048576;\nDONE:"),
              {"mbarrier.expect_tx", effect, "byte count"});
  // All but the last of a warp's lanes arrive together.
  expect_line(run("mov.u32 %r9, bar; mbarrier.arrive.shared.b64 _, [%r9];\n"),
              {"mbarrier.arrive", effect, "are not an mbarrier"});
}

TEST(Advice, TestsThatBreakARuleOfMbarriersHaveNoResult) {
  const std::string result = "breaks a rule, so its result is undefined";
  expect_line(run(one_thread + init + "mbarrier.test_wait.parity.shared.b64 %p2, [%r9], 2;\nDONE:"),
              {"mbarrier.test_wait.parity", result, "0 or 1"});
  expect_line(run(one_thread + init + "mbarrier.try_wait.shared.b64 %p2, [%r9], %rd9;\nDONE:"),
              {"mbarrier.try_wait", result, "did not come from an arrival"});
  expect_line(run(one_thread + "mbarrier.pending_count.b64 %r10, %rd9;\nDONE:"),
              {"mbarrier.pending_count", result, "did not come from an arrival"});
  // Each lane names a phase of its own.
  expect_line(run("mov.u32 %r9, bar; @%p9 bra DONE;\n"
                  "mbarrier.test_wait.parity.shared.b64 %p2, [%r9], %r1;\nDONE:",
                  async::late, 2),
              {"mbarrier.test_wait.parity", result, "are not an mbarrier"});
}

TEST(Advice, NothingIsSaidOfMbarriersThatAreUsedByTheRules) {
  EXPECT_TRUE(run(one_thread + init + R"(
  mbarrier.arrive.shared.b64 %rd8, [%r9];
  mbarrier.pending_count.b64 %r10, %rd8;
WAIT: mbarrier.try_wait.shared.b64 %p2, [%r9], %rd8; @!%p2 bra WAIT;
  mbarrier.test_wait.parity.shared.b64 %p2, [%r9], 1;
  mbarrier.inval.shared.b64 [%r9];
DONE:)")
                  .lines.empty());
}

TEST(Advice, ASourceSizeAboveTheCopysSizeIsUndefined) {
  const std::string parts = "mov.u32 %r9, tile; mov.u32 %r10, 4; add.u32 %r10, %r10, %r1;\n";
  expect_line(run(parts + "cp.async.ca.shared.global [%r9], [%rd1], 4, %r10;\n" + wait),
              {"kernel k", "cp.async.ca", "breaks a rule", "src-size is greater than cp-size"});
  EXPECT_TRUE(
      run(parts + "cp.async.ca.shared.global [%r9], [%rd1], 4, %r10;\n" + wait, async::late, 1)
          .lines.empty());
}

}  // namespace
}  // namespace inflight::machine
